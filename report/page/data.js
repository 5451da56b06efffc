// The data of the page: the index, which is there at once, and blocks of items, which are unpacked
// when one of their items is shown. report/report_parts.h describes both.

const index = JSON.parse(document.getElementById('index').textContent);
const parts = index.parts;

const unpacked = new Map();  // block -> promise of its items; the latest ones
const kBlocksKept = 12;

function unpack(block) {
  if (unpacked.has(block)) {
    const items = unpacked.get(block);
    unpacked.delete(block);  // to the end: the least recently used block comes first
    unpacked.set(block, items);
    return items;
  }
  const items = inflate(document.getElementById('block-' + block).textContent);
  unpacked.set(block, items);
  if (unpacked.size > kBlocksKept) unpacked.delete(unpacked.keys().next().value);
  return items;
}

async function inflate(base64) {
  const packed = atob(base64);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

async function item(block, at) {
  return (await unpack(block))[at];
}

// The fields of the lines of a part, by name.
const treeLine = ([task, nodes, leaves, depth, best, value, block, at, failed]) =>
  ({task, nodes, leaves, depth, best, value, block, at, failed});
const rowLine = ([task, mistake, badSteps, block, at, good, bad, ancestor, firstError, number, replay, position,
                  reward]) =>
  ({task, mistake, badSteps, block, at, good, bad, ancestor, firstError, number, replay, position, reward});
const episodeLine = ([task, attempt, reward, end, steps, refused, block, at, revisions, endsRefused]) =>
  ({task, attempt, reward, end, steps, refused, block, at, revisions, endsRefused});

const kKindNames = {loop: 'Loop', search: 'Search', rows: 'Training rows', training: 'Training',
                    evaluation: 'Evaluation'};

// What tells the path of a part from those of its kind: its path without the folders with which all of
// them begin, and without those with which all of them end.
const pathLabels = parts.map((part) => {
  const paths = parts.filter((other) => other.kind === part.kind)
    .map((other) => other.path.split('/').filter((name) => name !== '' && name !== '.'));
  const own = part.path.split('/').filter((name) => name !== '' && name !== '.');
  if (paths.length === 1) return own.slice(-2).join('/');
  const shortest = Math.min(...paths.map((path) => path.length));
  let begin = 0, end = 0;
  while (begin < shortest - 1 && paths.every((path) => path[begin] === own[begin])) ++begin;
  while (end < shortest - begin - 1 && paths.every((path) => path.at(-1 - end) === own.at(-1 - end))) ++end;
  return own.slice(begin, own.length - end).join('/');
});
// The name of each part: its task and model, with its path where another part of its kind has the same; else
// its path.
const runName = (part) => [part.family, part.model].filter((word) => word).join(', ');
const labels = parts.map((part, at) => {
  const name = part.kind === 'loop' || part.kind === 'training' ? '' : runName(part);
  const same = parts.filter((other) => other.kind === part.kind && runName(other) === name);
  return name === '' ? pathLabels[at] : same.length === 1 ? name : `${name} (${pathLabels[at]})`;
});
const labelOf = (part) => labels[parts.indexOf(part)];

// A tree with its columns as nodes.
async function readTree(part, line) {
  const packed = await item(line.block, line.at);
  const text = (at) => packed.texts[at];
  const nodes = packed.parent.map((parent, i) => ({
    index: i, parent, children: [], depth: 0,
    action: text(packed.action[i]), response: text(packed.response[i]),
    observation: text(packed.observation[i]), reward: packed.reward[i],
    visits: packed.visits[i], value: packed.value[i], end: packed.end[i],
    unchanged: (packed.flags[i] & 1) !== 0, refused: (packed.flags[i] & 2) !== 0,
    dropped: packed.dropped[i], said: text(packed.said[i]),
  }));
  for (const node of nodes) {
    if (node.parent < 0) continue;
    nodes[node.parent].children.push(node);
    node.depth = nodes[node.parent].depth + 1;
  }
  return {task: packed.task, model: packed.model, nodes,
          instruction: part.instructions[packed.instruction]};
}

// The nodes from the root to `node`.
function pathTo(tree, node) {
  const path = [];
  for (let at = node; at >= 0; at = tree.nodes[at].parent) path.unshift(tree.nodes[at]);
  return path;
}

// The ended leaf with the best reward; of equals the one with the shortest path.
function bestLeaf(tree) {
  const ended = tree.nodes.filter((node) => node.end !== 0);
  ended.sort((a, b) => b.reward - a.reward || a.depth - b.depth || a.index - b.index);
  return ended.length > 0 ? ended[0] : null;
}

// The rows that were made from the tree of `task` of part `search`, with their place on the page.
function rowsOfTree(search, task) {
  const found = [];
  parts.forEach((part, at) => {
    if (part.kind !== 'rows' || part.search !== search) return;
    part.rows.forEach((line, i) => {
      const row = rowLine(line);
      if (Number(row.task) === task) found.push({part: at, at: i, row});
    });
  });
  return found;
}
