// Navigation: #/ is the overview, #/3 part 3, #/3/17 its item 17, #/compare the comparisons.

const main = h('main', {tabindex: '-1'});
const nav = h('nav', {'aria-label': 'Results'});

const kPages = {
  loop: [loopPage, null, 'stages'],
  search: [searchPage, treePage, 'trees'],
  rows: [rowsPage, rowPage, 'rows'],
  training: [trainingPage, null, 'metrics'],
  evaluation: [evaluationPage, episodePage, 'episodes'],
};

// What came out of a run, in a few words: for each kind, [how many tasks, the result].
const kOutcomes = {
  loop: (part) => {
    const evaluated = part.stages.filter((stage) => stage.program === 'agent_eval' && stage.result?.success);
    const success = evaluated.map((stage) => percent(stage.result.success.mean, 1, 0));
    return [evaluated[0]?.result.tasks, success.length > 0 ? `success ${success.join(' → ')}` : ''];
  },
  evaluation: (part) => [part.summary?.tasks ?? part.total, part.summary?.success ?
    `success ${percentInterval(part.summary.success)}` : ''],
  search: (part) => {
    const solved = part.trees.filter((line) => treeLine(line).best >= 1).length;
    return [part.total, `${percent(solved, part.trees.length, 0)} of the trees with a full reward`];
  },
  rows: (part) => [part.audit?.tasks, plural(part.total, 'row') + (part.verified === null ? '' :
    `, ${percent(part.verified, part.total, 0)} verified`)],
  training: (part) => {
    const steps = part.metrics.filter((line) => line.train?.loss !== undefined);
    return [undefined, steps.length > 0 ?
      `${plural(steps.length, 'step')}, last loss ${fixed(steps[steps.length - 1].train.loss)}` : ''];
  },
};

// "41.0 % [34.0, 48.0]" of shares.
const percentInterval = ({mean, low, high}) =>
  `${(100 * mean).toFixed(1)} % [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`;

function runsTable() {
  // The newest first; of equals, in the order of their paths.
  const runs = parts.map((part, at) => {
    const [tasks, result] = kOutcomes[part.kind](part);
    return {part, at, tasks, result};
  }).sort((a, b) => b.part.written < a.part.written ? -1 : b.part.written > a.part.written ? 1 : a.at - b.at);
  const column = (name, value, more) => ({name, value, ...more});
  // Empty where nothing is known.
  const figure = (name, value, text) => column(name, (run) => value(run) ?? '', {
    number: true, show: (run) => value(run) === undefined || value(run) === null ? '' : text(value(run))});
  const columns = [
    column('run', (run) => `${kKindNames[run.part.kind]}: ${labels[run.at]}`),
    column('model', (run) => run.part.model),
    figure('tasks', (run) => run.tasks, count),
    column('result', (run) => run.result),
    figure('cost', (run) => run.part.cost, number),
    figure('time', (run) => run.part.seconds, duration),
    column('date (UTC)', (run) => run.part.written),
  ].filter((one) => one.name === 'run' || runs.some((run) => one.value(run) !== ''));
  return itemTable(columns, runs, (i) => `#/${runs[i].at}`, 'run', {look: 'runs'});
}

function overview() {
  const of = (kind) => parts.map((part, at) => ({part, at})).filter((one) => one.part.kind === kind);
  return [
    h('h1', {}, 'Runs'),
    runsTable(),
    intervalChart('Success of the evaluations, 95 % intervals over tasks', of('evaluation').map(
      ({part, at}) => ({name: labels[at], estimate: part.summary?.success, href: `#/${at}`}))),
    index.comparisons.length > 0 && h('p', {}, h('a', {href: '#/compare'},
      `${plural(index.comparisons.length, 'paired comparison')} of evaluations on the same tasks`)),
    h('p', {class: 'note'}, `Made by agent_report ${index.version}. Keys: n and p go to the next and the ` +
      'previous item, u goes up, / filters, ? shows this help.'),
  ];
}

function comparePage() {
  return [h('h1', {}, 'Paired comparisons'),
          intervalChart('Difference of the success, 95 % intervals', index.comparisons.map((one) => ({
            name: `${labels[one.a]} → ${labels[one.b]}`,
            estimate: one.success.difference})), ...range()),
          index.comparisons.map((one) => comparisonView(one))];
  function range() {
    const ends = index.comparisons.flatMap((one) => one.success.difference ?
      [one.success.difference.low, one.success.difference.high] : []);
    return [Math.min(-0.1, ...ends), Math.max(0.1, ...ends)];
  }
}

function place() {
  const [, part, number_] = location.hash.split('?')[0].split('/');
  return {name: part || '', part: Number(part), item: number_ === undefined ? -1 : Number(number_)};
}

// False where the address names an item that the part does not have; the part's list is shown instead.
function hasItem(at, part) {
  const [, page, items] = kPages[part.kind];
  return page !== null && at.item >= 0 && at.item < part[items].length;
}

let drawn = 0;  // counts pages, so that a slow one does not replace a later one
async function show() {
  const turn = ++drawn;
  const at = place(), part = parts[at.part];
  let content;
  try {
    if (at.name === 'compare') content = comparePage();
    else if (at.name === '' || !part) content = overview();
    else if (hasItem(at, part)) content = [crumbs(at, part), await kPages[part.kind][1](part, at.part, at.item)];
    else content = await kPages[part.kind][0](part, at.part);
  } catch (error) {
    content = h('p', {class: 'warning'}, `This part of the report cannot be shown: ${error.message}`);
    console.error(error);
  }
  if (turn !== drawn) return;
  main.replaceChildren();
  append(main, [content]);
  document.body.dataset.shown = location.hash || '#/';
  for (const link of nav.querySelectorAll('a')) {
    link.toggleAttribute('aria-current', link.hash === '#/' + (at.name || ''));
  }
  main.scrollTop = 0;
  const focus = main.querySelector('.tree');
  (focus || main).focus({preventScroll: true});
}

// The items of a part in the order of its list as it was last shown; all of them where `item` was not in it.
function itemsAround(at, part) {
  const all = part[kPages[part.kind][2]].map((_, i) => i);
  const shown = listsShown.get(`#/${at.part}`)?.order ?? all;
  return shown.includes(at.item) ? shown : all;
}

function neighbour(step) {
  const at = place(), part = parts[at.part];
  if (!part || at.item < 0) return;
  const items = itemsAround(at, part), next = items[items.indexOf(at.item) + step];
  if (next !== undefined) location.hash = `#/${at.part}/${next}`;
}

function crumbs(at, part) {
  const items = itemsAround(at, part), whole = part[kPages[part.kind][2]].length;
  return h('div', {class: 'crumbs'},
    h('a', {href: addressOfList(`#/${at.part}`)}, `${kKindNames[part.kind]}: ${labelOf(part)}`),
    h('span', {class: 'note'}, `${count(items.indexOf(at.item) + 1)} of ${count(items.length)}` +
                              (items.length < whole ? `, filtered of ${count(whole)}` : '')),
    h('button', {onclick: () => neighbour(-1), title: 'Previous (p)'}, '←'),
    h('button', {onclick: () => neighbour(1), title: 'Next (n)'}, '→'));
}

function help() {
  const dialog = h('dialog', {onclose: () => dialog.remove()}, h('h2', {}, 'Keys'), plainTable(null, [
    ['n, p', 'next and previous tree, row or episode of the list as it was shown'], ['u', 'up: from an item to its list'],
    ['/', 'filter a list'], ['↑ ↓', 'move in a tree or a list'], ['→ ←', 'unfold and fold a node'],
    ['b', 'best path of a tree'], ['e', 'next first error of a tree'], ['*', 'unfold the whole tree'],
    ['d', 'dark or light']], false), h('form', {method: 'dialog'}, h('button', {}, 'Close')));
  document.body.append(dialog);
  dialog.showModal();
}

function toggleTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input')) return;
  const at = place();
  const keys = {
    n: () => neighbour(1), p: () => neighbour(-1), d: toggleTheme, '?': help,
    u: () => { location.hash = at.item >= 0 ? addressOfList(`#/${at.part}`) : '#/'; },
    '/': () => main.querySelector('.filter')?.focus(),
  };
  if (!keys[event.key]) return;
  keys[event.key]();
  event.preventDefault();
});

function drawNav() {
  // On narrow screens the button unfolds the rest, and a choice folds it again.
  const menu = h('button', {class: 'menu', 'aria-expanded': 'false',
                            onclick: () => unfold(!nav.hasAttribute('data-open'))}, 'Menu');
  const unfold = (open) => {
    nav.toggleAttribute('data-open', open);
    menu.setAttribute('aria-expanded', String(open));
  };
  nav.addEventListener('click', (event) => { if (event.target.closest('a')) unfold(false); });
  nav.append(h('div', {class: 'head'}, h('a', {href: '#/', class: 'home'}, 'agentr report'), menu));
  for (const [kind, name] of Object.entries(kKindNames)) {
    const of = parts.map((part, at) => ({part, at})).filter((one) => one.part.kind === kind);
    if (of.length === 0) continue;
    nav.append(h('h2', {}, name), h('ul', {}, of.map(({part, at}) =>
      h('li', {}, h('a', {href: `#/${at}`, title: part.path}, labels[at])))));
  }
  if (index.comparisons.length > 0) {
    nav.append(h('h2', {}, 'Comparisons'), h('ul', {}, h('li', {}, h('a', {href: '#/compare'}, 'Paired'))));
  }
  nav.append(h('div', {class: 'tools'},
    h('button', {onclick: toggleTheme, title: 'Light or dark (d)'}, 'Theme'),
    h('button', {onclick: help, title: 'Keys (?)'}, '?'),
    h('button', {onclick: () => print(), title: 'Print what is shown'}, 'Print')));
}

// Of a page that agent_report --serve sends: asks now and then whether there is another one. A list is loaded
// again at once; one item stays until the reader wants the new page.
async function follow() {
  try {
    const stamp = await (await fetch('stamp')).text();
    if (stamp !== index.follow) {
      if (place().item < 0 && !document.activeElement.matches('input')) location.reload();
      else if (!nav.querySelector('.fresh')) {
        nav.append(h('button', {class: 'fresh', onclick: () => location.reload()}, 'New results'));
      }
    }
  } catch (error) {
    console.info(`The server of this page does not answer: ${error.message}`);
  }
  setTimeout(follow, 5000);
}

drawNav();
if (index.follow) setTimeout(follow, 5000);
document.body.append(nav, main);
addEventListener('hashchange', show);
matchMedia(kNarrow).addEventListener('change', show);  // a chart is laid out for the width it is drawn at
show();
