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

function overview() {
  const of = (kind) => parts.map((part, at) => ({part, at})).filter((one) => one.part.kind === kind);
  const list = (kind, figure) => of(kind).length > 0 && h('section', {},
    h('h2', {}, kKindNames[kind]),
    plainTable(null, of(kind).map(({part, at}) =>
      [h('a', {href: `#/${at}`}, labels[at]), ...figure(part)])));
  return [
    h('h1', {}, 'Results'),
    list('loop', (part) => [`${part.stages.length} stages`]),
    intervalChart('Success of the evaluations, 95 % intervals over tasks', of('evaluation').map(
      ({part, at}) => ({name: labels[at], estimate: part.summary?.success, href: `#/${at}`}))),
    list('evaluation', (part) => [part.family, `${count(part.total)} episodes`,
                                  `success ${interval(part.summary?.success)}`]),
    index.comparisons.length > 0 && h('p', {}, h('a', {href: '#/compare'},
      `${index.comparisons.length} paired comparisons of evaluations on the same tasks`)),
    list('search', (part) => [part.family, `${count(part.total)} trees`,
      `best reward ${fixed(part.trees.reduce((sum, tree) => sum + tree[4], 0) / (part.trees.length || 1))}`]),
    list('rows', (part) => [part.family, `${count(part.total)} rows`,
      part.audit ? `${percent(part.audit.tokens.trained, part.audit.tokens.all)} of the tokens trained` : '']),
    list('training', (part) => {
      const steps = part.metrics.filter((line) => line.train);
      return [`${count(steps.length)} steps`,
              steps.length > 0 ? `last loss ${fixed(steps[steps.length - 1].train.loss)}` : ''];
    }),
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

let drawn = 0;  // counts pages, so that a slow one does not replace a later one
async function show() {
  const turn = ++drawn;
  const at = place(), part = parts[at.part];
  let content;
  try {
    if (at.name === 'compare') content = comparePage();
    else if (at.name === '' || !part) content = overview();
    else if (at.item >= 0) content = [crumbs(at, part), await kPages[part.kind][1](part, at.part, at.item)];
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

function neighbour(step) {
  const at = place(), part = parts[at.part];
  if (!part || at.item < 0) return;
  const next = at.item + step;
  if (next >= 0 && next < part[kPages[part.kind][2]].length) location.hash = `#/${at.part}/${next}`;
}

function crumbs(at, part) {
  const most = part[kPages[part.kind][2]].length;
  return h('div', {class: 'crumbs'},
    h('a', {href: `#/${at.part}`}, `${kKindNames[part.kind]}: ${labelOf(part)}`),
    h('span', {class: 'note'}, `${at.item + 1} of ${count(most)}`),
    h('button', {onclick: () => neighbour(-1), title: 'Previous (p)'}, '←'),
    h('button', {onclick: () => neighbour(1), title: 'Next (n)'}, '→'));
}

function help() {
  const dialog = h('dialog', {onclose: () => dialog.remove()}, h('h2', {}, 'Keys'), plainTable(null, [
    ['n, p', 'next and previous tree, row or episode'], ['u', 'up: from an item to its list'],
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
    u: () => { location.hash = at.item >= 0 ? `#/${at.part}` : '#/'; },
    '/': () => main.querySelector('.filter')?.focus(),
  };
  if (!keys[event.key]) return;
  keys[event.key]();
  event.preventDefault();
});

function drawNav() {
  nav.append(h('a', {href: '#/', class: 'home'}, 'agentr report'));
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
    h('button', {onclick: toggleTheme, title: 'Light or dark (d)'}, 'Light or dark'),
    h('button', {onclick: help, title: 'Keys (?)'}, '?'),
    h('button', {onclick: () => print(), title: 'Print what is shown'}, 'Print')));
}

drawNav();
document.body.append(nav, main);
addEventListener('hashchange', show);
show();
