"""The page's living part: the network with its queues over time, schemes on one clock.

`data.py` says what the page needs to know of a group of runs, `tree.js` draws the network,
`live.js` does the rest; plots are Plotly's.
"""
