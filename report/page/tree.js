// The outline of one search tree: nodes that one can fold and unfold, with the arrow keys as in a
// file manager. Neighbouring nodes that changed nothing are one line, "4 that changed nothing",
// unless the best path leads through one of them or it is marked.

const kEndNames = ['', 'done', 'disaster', 'depth limit', 'cut responses'];

// marks: node -> {error: number of rows, splice: number of rows}; onSelect(node).
function treeOutline(tree, marks, onSelect) {
  const best = bestLeaf(tree);
  const onBest = new Set(best ? pathTo(tree, best.index).map((node) => node.index) : []);
  const open = new Set(onBest);
  const unfolded = new Set();  // parents whose nodes without effect are shown
  let lines = [], selected = null;
  const list = h('div', {class: 'tree', role: 'tree', tabindex: '0', 'aria-label': 'Search tree',
                         onkeydown: onKey});

  const folds = (node) => node.unchanged && !onBest.has(node.index) && !marks.has(node.index);

  // The lines below `node` in their order: {node, level} or {fold: parent, nodes, level}.
  function collect(node, level, out) {
    const hidden = node.children.filter(folds);
    const folded = hidden.length > 0 && !unfolded.has(node.index);
    for (const child of node.children) {
      if (folded && folds(child)) continue;
      out.push({node: child, level});
      if (open.has(child.index)) collect(child, level + 1, out);
    }
    if (folded) out.push({fold: node.index, nodes: hidden, level});
  }

  function draw() {
    lines = [{node: tree.nodes[0], level: 0}];
    collect(tree.nodes[0], 1, lines);
    list.replaceChildren(...lines.map(lineOf));
    mark();
  }

  function lineOf(line, i) {
    const indent = {'--level': String(line.level)};
    if (line.fold !== undefined) {
      const refused = line.nodes.filter((node) => node.refused).length;
      return h('div', {class: 'line folded', role: 'treeitem', 'aria-expanded': 'false',
                       style: indent, onclick: () => { select(i); toggle(i); }},
        h('span', {class: 'arrow'}, '▸'),
        `${line.nodes.length} that changed nothing` +
          (refused > 0 ? ` (${refused} refused by the environment)` : ''));
    }
    const node = line.node;
    const classes = ['line', onBest.has(node.index) ? 'best' : '', node.unchanged ? 'unchanged' : '']
      .filter((name) => name !== '').join(' ');
    const inner = node.children.length > 0;
    const marked = marks.get(node.index) || {};
    return h('div', {class: classes, role: 'treeitem', style: indent,
                     'aria-level': line.level + 1,
                     'aria-expanded': inner ? String(open.has(node.index) || line.level === 0) : null,
                     onclick: () => select(i), ondblclick: () => toggle(i)},
      h('span', {class: 'arrow', onclick: (event) => { event.stopPropagation(); select(i); toggle(i); }},
        !inner ? '' : open.has(node.index) || line.level === 0 ? '▾' : '▸'),
      h('span', {class: 'visits', title: 'visits'}, node.visits),
      h('span', {class: 'meter', title: `mean value ${fixed(node.value)}`},
        h('span', {style: {width: `${100 * node.value}%`}})),
      h('span', {class: 'mean'}, node.visits > 0 ? fixed(node.value, 2) : ''),
      marked.error && badge('error', 'first error', `first error of ${marked.error} rows`),
      marked.splice && badge('splice', 'splice point', `paths of ${marked.splice} rows part here`),
      node.refused && badge('refused', 'refused'),
      node.said !== undefined && badge('slip', 'slip', `the model said "${node.said}"`),
      node.end !== 0 && badge(node.reward > 0 ? 'good' : 'bad',
                              `${kEndNames[node.end]} ${number(node.reward)}`),
      h('span', {class: 'action'}, node.parent < 0 ? 'start' : oneLine(node.action)),
      h('span', {class: 'reply'}, oneLine(node.observation).slice(0, 300)));
  }

  function mark() {
    const at = lines.findIndex((line) => line.node === selected);
    [...list.children].forEach((line, i) => line.setAttribute('aria-selected', String(i === at)));
    return at;
  }

  function select(at) {
    if (at < 0 || at >= lines.length) return;
    const line = lines[at];
    if (line.node) {
      selected = line.node;
      onSelect(selected);
    }
    [...list.children].forEach((one, i) => one.setAttribute('aria-selected', String(i === at)));
    list.children[at].scrollIntoView({block: 'nearest'});
  }

  function toggle(at) {
    const line = lines[at];
    if (line.fold !== undefined) {
      unfolded.add(line.fold);
      draw();
      select(lines.findIndex((one) => one.node === line.nodes[0]));
      return;
    }
    if (line.level === 0 || line.node.children.length === 0) return;
    if (!open.delete(line.node.index)) open.add(line.node.index);
    draw();
  }

  // Unfolds all that hides `node`, and selects it.
  function reveal(index) {
    for (const node of pathTo(tree, index)) {
      if (node.index !== index) open.add(node.index);
      if (node.unchanged && node.parent >= 0) unfolded.add(node.parent);
    }
    draw();
    select(lines.findIndex((line) => line.node && line.node.index === index));
  }

  function onKey(event) {
    const at = [...list.children].findIndex((line) => line.getAttribute('aria-selected') === 'true');
    const line = lines[at];
    const node = line && line.node;
    const keys = {
      ArrowDown: () => select(at + 1),
      ArrowUp: () => select(at - 1),
      Home: () => select(0),
      End: () => select(lines.length - 1),
      ArrowRight: () => {
        if (line.fold !== undefined || (node.children.length > 0 && !open.has(node.index) &&
                                        line.level > 0)) toggle(at);
        else if (node.children.length > 0) select(at + 1);
      },
      ArrowLeft: () => {
        if (node && open.has(node.index) && line.level > 0 && node.children.length > 0) toggle(at);
        else for (let i = at - 1; i >= 0; --i) if (lines[i].level < line.level) return select(i);
      },
      Enter: () => toggle(at),
      ' ': () => toggle(at),
      b: () => best && reveal(best.index),
      e: () => nextError(),
      '*': () => unfoldAll(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !line || !keys[event.key]) return;
    keys[event.key]();
    event.preventDefault();
    event.stopPropagation();
  }

  function nextError() {
    const errors = [...marks].filter(([, mark]) => mark.error).map(([node]) => node)
      .sort((a, b) => a - b);
    if (errors.length === 0) return;
    reveal(errors.find((node) => selected && node > selected.index) ?? errors[0]);
  }

  function unfoldAll() {
    for (const node of tree.nodes) {
      open.add(node.index);
      unfolded.add(node.index);
    }
    draw();
  }

  draw();
  return {element: list, reveal, unfoldAll, nextError,
          showBest: () => best && reveal(best.index)};
}
