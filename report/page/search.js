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
      {name: 'rows', value: (t) => rowsOfTask(at, t.task).count, number: true},
    ], trees, (i) => `#/${at}/${i}`, 'tree', {facets: [
      {name: 'best reward', order: ['full', 'part of it', 'none'],
       of: (t) => t.best >= 1 ? 'full' : t.best > 0 ? 'part of it' : 'none'},
      {name: 'paths', order: ['with a failed one', 'none failed'],
       of: (t) => t.failed > 0 ? 'with a failed one' : 'none failed'},
      {name: 'rows', order: ['with rows', 'without'],
       of: (t) => rowsOfTask(at, t.task).count > 0 ? 'with rows' : 'without'},
      {name: 'mistakes', order: ['with a mistake', 'none'], of: (t) => mistakesOfTask(at, t.task)},
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

// The number of rows of each task of a search and the names of their mistakes, gathered once.
const rowsByTask = new Map();  // search -> task -> {count, mistakes}
function rowsOfTask(search, task) {
  if (!rowsByTask.has(search)) {
    const tasks = new Map();
    for (const part of parts) {
      if (part.kind !== 'rows' || part.search !== search) continue;
      for (const row of part.rows.map(rowLine)) {
        const id = Number(row.task), known = tasks.get(id) ?? {count: 0, mistakes: new Set()};
        ++known.count;
        if (row.mistake) known.mistakes.add(mistakeName(row));
        tasks.set(id, known);
      }
    }
    rowsByTask.set(search, tasks);
  }
  return rowsByTask.get(search).get(task) ?? {count: 0, mistakes: new Set()};
}

// Whether rows of the task have a mistake, and which.
function mistakesOfTask(search, task) {
  const names = [...rowsOfTask(search, task).mistakes];
  return names.length > 0 ? ['with a mistake', ...names] : 'none';
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

// A message of a conversation. `content`: its text, or elements that show it. `where`: "step 3".
function message(role, content, classes = '', where = '') {
  const names = {user: 'environment', assistant: 'agent', system: 'system'};
  const from = names[role] || role;
  return h('div', {class: `message ${role} ${classes}`},
           h('div', {class: 'role'}, where === '' ? from : `${from}, ${where}`),
           typeof content === 'string' ? h('div', {class: 'text'}, content) : content);
}

const kShortText = 100;  // an observation of no more characters is shown as it is
const kShortGoal = 40;   // and so are repeated lines of the first one

const sizeOf = (lines) => lines.reduce((sum, line) => sum + line.length, 0);
// The lines of a text; those of WebShop are the pieces of a page.
const linesOf = (text) =>
  text.split(/\n|\[SEP\]/).map((line) => line.trim()).filter((line) => line !== '');

// A function that shows the observations of a page in their order, (text, before, where) ->
// elements. It folds what the reader has seen: a text that was there, most lines of the one before
// it, or the goal that `first`, the text at the start, has. `where` is the place of the text, such
// as "in step 3".
function observationsAfter(first) {
  const places = new Map([[first.trim(), 'at the start']]);  // text -> where it is in full
  const goal = new Set(linesOf(first));
  return (text, before, where) => {
    const seen = places.get(text.trim());
    if (seen === undefined) places.set(text.trim(), where);
    if (text.length <= kShortText) return h('div', {class: 'text'}, text);
    return seen !== undefined ? foldedText(`As ${seen}`, text) :
      changedText(text, before) ?? withoutGoal(text, goal);
  };
}

// A text of which most was in the text before it is folded to its new lines; null for another one.
function changedText(text, before) {
  const old = new Set(linesOf(before)), lines = linesOf(text);
  const fresh = lines.filter((line) => !old.has(line));
  const most = 2 * fresh.length > lines.length || 2 * sizeOf(fresh) > sizeOf(lines);
  if (text.length < 2 * kShortText || most) return null;
  return [
    fresh.length > 0 && h('div', {class: 'text'},
                          fresh.join(text.includes('\n') ? '\n' : ' [SEP] ')),
    foldedText(fresh.length === 0 ? 'Nothing new: the whole text' :
      `${fresh.length} of ${plural(lines.length, 'line')} ` +
      `${fresh.length === 1 ? 'is' : 'are'} new: the whole text`, text)];
}

const foldedText = (summary, text) =>
  h('details', {}, h('summary', {class: 'note'}, summary), h('div', {class: 'text'}, text));

// A text in which long runs of lines of the first text are folded, such as the goal on each page of
// WebShop. `goal` is the lines of the first text.
function withoutGoal(text, goal) {
  const pieces = text.split(/(\n|\s*\[SEP\]\s*)/);  // each line and, behind it, what ends it
  const runs = [];  // {old, text, lines}, of which neighbours differ in `old`
  for (let i = 0; i < pieces.length; i += 2) {
    const line = pieces[i].trim(), last = runs.at(-1);
    const old = line === '' ? last?.old ?? false : goal.has(line);
    if (last?.old !== old) runs.push({old, text: '', lines: []});
    runs.at(-1).text += pieces[i] + (pieces[i + 1] ?? '');
    if (line !== '') runs.at(-1).lines.push(line);
  }
  return h('div', {class: 'text'}, runs.map((run) =>
    !run.old || sizeOf(run.lines) < kShortGoal ? run.text :
      h('details', {}, h('summary', {class: 'note'}, `${plural(run.lines.length, 'line')} as at ` +
                                                     'the start'), h('div', {}, run.text))));
}
