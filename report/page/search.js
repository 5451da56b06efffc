// A search: the table of its trees, and the view of one tree.

function searchPage(part, at) {
  const trees = part.trees.map(treeLine);
  const solved = trees.filter((tree) => tree.best >= 1).length;
  const sum = (name) => trees.reduce((total, tree) => total + tree[name], 0);
  return [
    h('h1', {}, `Search: ${labelOf(part)}`),
    figures([[count(part.total), 'trees'], [count(sum('nodes')), 'nodes'],
             [percent(solved, trees.length), 'with a full reward'],
             [fixed(sum('best') / (trees.length || 1)), 'best reward, mean'],
             [fixed(sum('value') / (trees.length || 1)), 'value of the root, mean']]),
    part.total > trees.length && h('p', {class: 'note'},
      `This page has ${count(trees.length)} of ${count(part.total)} trees (agent_report --trees).`),
    problems(part),
    itemTable([
      {name: 'task', value: (t) => t.task, number: true},
      {name: 'nodes', value: (t) => t.nodes, number: true},
      {name: 'ended leaves', value: (t) => t.leaves, number: true},
      {name: 'depth', value: (t) => t.depth, number: true},
      {name: 'best reward', value: (t) => t.best, show: (t) => meterCell(t.best), number: true},
      {name: 'mean value', value: (t) => t.value, show: (t) => meterCell(t.value), number: true},
      {name: 'rows', value: (t) => rowsCount(at, t.task), number: true},
    ], trees, (i) => `#/${at}/${i}`, 'tree', {facets: [
      {name: 'best reward', order: ['full', 'part of it', 'none'],
       of: (t) => t.best >= 1 ? 'full' : t.best > 0 ? 'part of it' : 'none'},
      {name: 'rows', order: ['with rows', 'without'], of: (t) => rowsCount(at, t.task) > 0 ? 'with rows' : 'without'},
      {name: 'depth', order: kSizes, of: (t) => sizeName(t.depth)},
    ]}),
    origin(part),
  ];
}

// Numbers in a few groups, for facets.
const kSizes = ['unknown', '0', '1', '2', '3', '4 or 5', '6 to 9', '10 to 19', '20 or more'];
const sizeName = (size) => size < 0 ? kSizes[0] : size < 4 ? String(size) :
  kSizes[size < 6 ? 5 : size < 10 ? 6 : size < 20 ? 7 : 8];

function meterCell(value) {
  return [h('span', {class: 'meter'}, h('span', {style: {width: `${100 * value}%`}})), ' ', fixed(value)];
}

// The number of rows of each task of a search, counted once.
const rowCounts = new Map();
function rowsCount(search, task) {
  if (!rowCounts.has(search)) {
    const counts = new Map();
    for (const part of parts) {
      if (part.kind !== 'rows' || part.search !== search) continue;
      for (const line of part.rows) counts.set(Number(line[0]), (counts.get(Number(line[0])) || 0) + 1);
    }
    rowCounts.set(search, counts);
  }
  return rowCounts.get(search).get(task) || 0;
}

async function treePage(part, at, number_) {
  const line = treeLine(part.trees[number_]);
  const tree = await readTree(part, line);
  const rows = rowsOfTree(at, line.task);
  const marks = new Map();
  const addMark = (node, name) => {
    if (node < 0 || node >= tree.nodes.length) return;
    const mark = marks.get(node) || {};
    mark[name] = (mark[name] || 0) + 1;
    marks.set(node, mark);
  };
  for (const {row} of rows) {
    addMark(row.firstError, 'error');
    addMark(row.ancestor, 'splice');
  }
  const detail = h('aside', {class: 'detail', 'aria-live': 'polite'});
  const outline = treeOutline(tree, marks, (node) => showNode(tree, node, detail));
  const best = bestLeaf(tree);
  const content = [
    h('h1', {}, `${part.family}, task ${line.task}`),
    figures([[count(tree.nodes.length), 'nodes'], [count(line.leaves), 'ended leaves'],
             [number(line.best), 'best reward'], [fixed(line.value), 'mean value'],
             [count(rows.length), 'rows made of it']]),
    h('div', {class: 'bar'},
      best && h('button', {onclick: () => outline.showBest()}, 'Best path (b)'),
      [...marks.values()].some((mark) => mark.error) &&
        h('button', {onclick: () => outline.nextError()}, 'Next first error (e)'),
      h('button', {onclick: () => outline.unfoldAll()}, 'Unfold all (*)'),
      h('span', {class: 'note'}, 'Each line: visits, mean value, action, reply. Arrow keys move and unfold.')),
    h('div', {class: 'columns'}, outline.element, detail),
    rows.length > 0 && h('section', {}, h('h2', {}, 'Rows made of this tree'), itemTable([
      {name: 'row', value: (r) => r.row.number, number: true},
      {name: 'file', value: (r) => labels[r.part]},
      {name: 'mistake', value: (r) => r.row.mistake || '–'},
      {name: 'bad steps', value: (r) => r.row.badSteps, number: true},
    ], rows, (i) => `#/${rows[i].part}/${rows[i].at}`, 'row')),
    sameTask(at, line.task),
    h('section', {}, h('details', {}, h('summary', {}, 'Instruction'),
      tree.instruction.map(([role, text]) => message(role, text)))),
    h('p', {class: 'note'}, part.files[number_]),
  ];
  const start = location.hash.match(/node=(\d+)/);
  // When the page is there, for only then can it scroll to the node.
  setTimeout(() => {
    if (start && tree.nodes[Number(start[1])]) outline.reveal(Number(start[1]));
    else outline.reveal(0);
  }, 0);
  return content;
}

// One node in full.
function showNode(tree, node, box) {
  const facts = [
    plural(node.visits, 'visit'), `mean value ${fixed(node.value)}`, `level ${node.depth}`,
    node.end !== 0 && `${kEndNames[node.end]}, reward ${number(node.reward)}`,
    node.refused && 'refused by the environment',
    node.unchanged && node.parent >= 0 && 'changed nothing',
    node.dropped > 0 && `${node.dropped} oldest turns were not in the prompt`,
  ].filter((fact) => fact);
  box.replaceChildren(
    h('h2', {}, node.parent < 0 ? 'Start' : `Node ${node.index}`),
    h('p', {class: 'note'}, facts.join(' · ')));
  append(box, [
    node.parent >= 0 && message('assistant', node.response),
    node.said !== undefined && h('p', {class: 'note'},
      `A slip: the model said "${node.said}", and "${node.action}" was done.`),
    message('user', node.observation),
    node.children.length > 0 && h('p', {class: 'note'}, `${plural(node.children.length, 'response')} of the model below it`),
  ]);
}

// A message of a conversation.
function message(role, text, classes = '') {
  const names = {user: 'environment', assistant: 'agent', system: 'system'};
  return h('div', {class: `message ${role} ${classes}`},
           h('div', {class: 'role'}, names[role] || role), h('div', {class: 'text'}, text));
}
