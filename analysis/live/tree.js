// @ts-check
// The network as a tree: hosts below, cores above, each cable two lines, one a direction.

/**
 * @typedef {{label: string, color: string, run: string, cct: number, queues: number[][],
 *   busy: number[], flows: number[][], ways: Record<string, number[]>}} Run
 * @typedef {{folded: boolean, nodes: [string, number, number][], links: [number, number][],
 *   times: number[], runs: Run[]}} Content
 * @typedef {{paint: (levels: ArrayLike<number>, most: number) => void,
 *   mark: (links: Map<number, number>) => void, choose: (link: number) => void}} Tree
 */

const WIDTH = 640;
const ROW = 84;
const SPACE = "http://www.w3.org/2000/svg";
/** Stops of a scale whose lightness tells as much as its hue (cividis, without its ends). */
const STOPS = [[36, 76, 122], [86, 104, 130], [125, 135, 120], [180, 166, 95], [236, 200, 60]];

/** @param {number} share from 0 to 1 @returns {string} */
function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const low = Math.min(Math.floor(at), STOPS.length - 2);
  const mixed = STOPS[low].map((part, i) => part + (STOPS[low + 1][i] - part) * (at - low));
  return `rgb(${mixed.map(Math.round).join(",")})`;
}

/** @param {Element} parent @param {string} name @param {Record<string, string|number>} values */
function add(parent, name, values) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(values)) made.setAttribute(key, String(value));
  parent.append(made);
  return made;
}

/** @param {Content} content @returns {[number, number][]} where each node is drawn */
function positions(content) {
  const tiers = [...new Set(content.nodes.map((node) => node[1]))].sort((a, b) => a - b);
  return content.nodes.map(([, tier, order]) => {
    const count = content.nodes.filter((node) => node[1] === tier).length;
    const row = tiers.length - 1 - tiers.indexOf(tier);
    return [((order + 0.5) * WIDTH) / count, 16 + row * ROW];
  });
}

/**
 * Draw a network into a place of the page; `clicked` hears of links.
 * @param {HTMLElement} place @param {Content} content @param {(link: number) => void} clicked
 * @returns {Tree}
 */
function drawTree(place, content, clicked) {
  const at = positions(content);
  const height = 32 + ROW * (new Set(content.nodes.map((node) => node[1])).size - 1);
  const svg = document.createElementNS(SPACE, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  svg.setAttribute("role", "img");
  place.append(svg);
  const lines = content.links.map(([from, to], link) => {
    const [[x1, y1], [x2, y2]] = [at[from], at[to]];
    const away = y1 > y2 ? 1.4 : -1.4;
    const ends = { x1: x1 + away, y1, x2: x2 + away, y2 };
    const line = add(svg, "line", { ...ends, class: "link" });
    const target = add(svg, "line", { ...ends, class: "target", "data-link": link });
    add(target, "title", {}).textContent = `${content.nodes[from][0]} → ${content.nodes[to][0]}`;
    target.addEventListener("click", () => clicked(link));
    return line;
  });
  content.nodes.forEach(([name, tier], node) => {
    const circle = add(svg, "circle", { cx: at[node][0], cy: at[node][1], r: tier ? 4 : 2.5 });
    add(circle, "title", {}).textContent = name;
  });
  const painted = new Float64Array(lines.length).fill(-1);
  return {
    paint(levels, most) {
      for (let link = 0; link < lines.length; link++) {
        const share = Math.sqrt(levels[link] / most);
        if (painted[link] === share) continue;
        painted[link] = share;
        const busy = levels[link] > 0;
        lines[link].style.stroke = busy ? colour(painted[link]) : "";
        lines[link].style.strokeWidth = busy ? String(1.2 + 2.8 * painted[link]) : "";
      }
    },
    mark(links) {
      lines.forEach((line, link) => line.classList.toggle("way", links.has(link)));
    },
    choose(chosen) {
      lines.forEach((line, link) => line.classList.toggle("chosen", link === chosen));
    },
  };
}
