// @ts-check
// The living part of the page: one clock for all schemes, links and flows to click, tables to sort.

/** @type {any} */
const plots = /** @type {any} */ (window).Plotly;

/** @param {string} packed gzip in base64 @returns {Promise<Content>} */
async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** @param {number[]} changes frame, level, frame, level… @param {number} frames */
function levelsOf(changes, frames) {
  const levels = new Float64Array(frames);
  for (let i = 0; i < changes.length; i += 2) levels.fill(changes[i + 1], changes[i]);
  return levels;
}

/** @param {string} name @param {string} [text] @returns {HTMLElement} */
function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @param {string[]} heads @param {(string|number)[][]} rows @param {(row: number) => void} [clicked] */
function table(heads, rows, clicked) {
  const made = /** @type {HTMLTableElement} */ (element("table"));
  const head = made.createTHead().insertRow();
  for (const text of heads) head.append(element("th", text));
  const body = made.createTBody();
  rows.forEach((row, number) => {
    const line = body.insertRow();
    for (const value of row) line.insertCell().textContent = String(value);
    if (clicked) {
      line.classList.add("clickable");
      line.addEventListener("click", () => clicked(number));
    }
  });
  return made;
}

/** @param {string|null} text @returns {number|string} a number where there is one */
function valueOf(text) {
  const plain = (text ?? "").replaceAll(",", "");
  const number = Number.parseFloat(plain);
  return Number.isNaN(number) ? plain : number;
}

/** Let a table be sorted by its heads and kept as CSV. @param {HTMLTableElement} made */
function enliven(made) {
  const rows = () => [...made.rows].slice(1);
  const heads = [...made.rows[0].cells];
  let down = true;
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.classList.add("sortable");
    const sort = () => {
      down = !down;
      const sorted = rows().sort((a, b) => {
        const [x, y] = [valueOf(a.cells[column].textContent), valueOf(b.cells[column].textContent)];
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
      });
      for (const row of sorted) row.parentElement?.append(row);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
  });
  const link = /** @type {HTMLAnchorElement} */ (element("a", "CSV"));
  link.className = "csv";
  link.download = "table.csv";
  link.href = "#";
  link.addEventListener("click", () => {
    const quoted = [...made.rows].map((row) =>
      [...row.cells].map((cell) => `"${(cell.textContent ?? "").trim().replaceAll('"', '""')}"`));
    const text = quoted.map((row) => row.join(",")).join("\n");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  });
  made.after(link);
}

/** @param {HTMLElement} place @param {Content} content */
function live(place, content) {
  const frames = content.times.length;
  const levels = content.runs.map((run) => run.queues.map((link) => levelsOf(link, frames)));
  const most = Math.max(1, ...levels.flat(1).map((series) => Math.max(...series)));
  /** @param {string} name @returns {any} */
  const part = (name) => place.querySelector(`.${name}`);
  const [slider, play, by, detail] = [part("slider"), part("play"), part("by"), part("detail")];
  slider.max = String(frames - 1);
  slider.value = String(Math.round(frames / 3));
  let timer = 0;
  const trees = content.runs.map((run, number) => {
    const box = element("figure");
    const title = element("figcaption", `${run.label}, CCT ${run.cct.toFixed(2)} µs`);
    title.style.borderLeft = `.5rem solid ${run.color}`;
    box.append(title);
    part("trees").append(box);
    return drawTree(box, content, (link) => showLink(number, link));
  });

  function paint() {
    const frame = Number(slider.value);
    part("now").textContent = `${content.times[frame].toFixed(2)} µs`;
    trees.forEach((tree, number) => {
      const queues = by.value === "queue";
      const shown = queues ? levels[number].map((link) => link[frame]) : content.runs[number].busy;
      tree.paint(shown, queues ? most : 1);
    });
    part("scale").textContent = by.value === "queue"
      ? `0 to ${most.toFixed(1)} KB${content.folded ? ", the longest of each bundle" : ""}, by its root`
      : "0 to 100 % of the time to the CCT, by its root";
    const plot = part("plot");
    if (plot?.data) plots.relayout(plot, { "shapes[0].x0": content.times[frame],
      "shapes[0].x1": content.times[frame] });
  }

  function toggle() {
    if (timer) {
      clearInterval(timer);
      timer = 0;
    } else {
      if (Number(slider.value) >= frames - 1) slider.value = "0";
      timer = setInterval(() => {
        slider.value = String(Number(slider.value) + 1);
        paint();
        if (Number(slider.value) >= frames - 1) toggle();
      }, 60);
    }
    play.textContent = timer ? "Pause" : "Play";
  }

  /** @param {number} number of the run @param {number} link */
  function showLink(number, link) {
    const run = content.runs[number];
    const [from, to] = content.links[link].map((node) => content.nodes[node][0]);
    trees.forEach((tree) => { tree.choose(link); tree.mark(new Map()); });
    const plot = element("div");
    plot.className = "plot";
    detail.replaceChildren(element("h4", `${from} → ${to}: its queue under each scheme`), plot);
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const grid = { gridcolor: dark ? "#444" : "#ddd", zeroline: false };
    plots.newPlot(plot, content.runs.map((each, at) => ({
      x: content.times, y: [...levels[at][link]], name: each.label, mode: "lines",
      line: { color: each.color, shape: "hv", width: 1.5 },
    })), {
      margin: { l: 50, r: 10, t: 10, b: 40 }, height: 260, showlegend: true,
      legend: { orientation: "h", y: 1.2 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: dark ? "#eee" : "#1b1b1b" },
      xaxis: { title: { text: "time (µs)" }, ...grid },
      yaxis: { title: { text: "queue (KB)" }, rangemode: "tozero", ...grid },
      shapes: [{ type: "line", yref: "paper", y0: 0, y1: 1, x0: 0, x1: 0, line: { width: 1,
        color: dark ? "#eee" : "#1b1b1b" } }],
    }, { responsive: true, displaylogo: false });
    showFlows(number, link);
    paint();
    if (!Object.keys(run.ways).length) {
      detail.append(element("p", "This run kept no packets' ways: only small ones in virtual time do."));
    }
  }

  /** @param {number} number @param {number} link */
  function showFlows(number, link) {
    const run = content.runs[number];
    /** @type {[number, number][]} */
    const there = [];
    for (const [flow, way] of Object.entries(run.ways)) {
      for (let i = 0; i < way.length; i += 2) if (way[i] === link) there.push([+flow, way[i + 1]]);
    }
    there.sort((a, b) => b[1] - a[1]);
    const byNumber = new Map(run.flows.map((flow) => [flow[0], flow]));
    const rows = there.map(([flow, packets]) => {
      const [, from, to, all, start, end] = byNumber.get(flow) ?? [];
      return [flow, `h${from}`, `h${to}`, packets, all, start, end];
    });
    if (!rows.length) return;
    const heads = ["flow", "from", "to", "packets here", "of", "start (µs)", "delivered (µs)"];
    const made = table(heads, rows, (row) => showFlow(number, rows[row][0]));
    detail.append(element("p", `Flows on it under ${run.label}; click one for its ways.`), made);
    enliven(made);
  }

  /** @param {number} number @param {string|number} flow */
  function showFlow(number, flow) {
    const way = content.runs[number].ways[String(flow)] ?? [];
    /** @type {Map<number, number>} */
    const links = new Map();
    for (let i = 0; i < way.length; i += 2) links.set(way[i], way[i + 1]);
    trees.forEach((tree, at) => tree.mark(at === number ? links : new Map()));
    const rows = [...links].map(([link, packets]) => [
      content.links[link].map((node) => content.nodes[node][0]).join(" → "), packets]);
    detail.querySelector(".ways")?.remove();
    const box = element("div");
    box.className = "ways";
    const made = table(["link", "packets"], rows);
    box.append(element("p", `Flow ${flow} under ${content.runs[number].label}: its links.`), made);
    detail.append(box);
    enliven(made);
  }

  slider.addEventListener("input", paint);
  by.addEventListener("change", paint);
  play.addEventListener("click", toggle);
  paint();
}

for (const made of document.querySelectorAll("table")) {
  if (made.rows[0]?.cells[0]?.tagName === "TH") enliven(made);
}
for (const place of document.querySelectorAll(".live")) {
  const packed = place.querySelector(".content")?.textContent?.trim() ?? "";
  unpacked(packed).then((content) => live(/** @type {HTMLElement} */ (place), content));
}
