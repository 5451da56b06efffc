// Tables of items, and of options.

// What the list of a page shows is in its address, so that a link shows the same: "facet=NAME:VALUE" for each
// choice, "sort=COLUMN", or "sort=-COLUMN" for falling, and "filter=WORDS". The latest address and the rows of
// each list are kept, for the way back from one of its items and to the next one.
const listsShown = new Map();  // "#/3" -> {address, order: indices of its rows}
const addressOfList = (list) => listsShown.get(list)?.address ?? list;

// A table that can be sorted and filtered, with rows made as they come into view, in groups of which those far
// from the view are empty, so that a list of thousands is as quick at its end as at its beginning. columns: [{name,
// value(row) -> number or string, show(row) -> text or element, number: bool}]. unit: what one row is. The row
// under focus moves with the arrow keys and opens with Enter. options: look, a further class of the table; facets, which
// make it the list of its page: [{name, of(row) -> text or texts, order: texts}], each a group of buttons that
// restrict the list to a value, with the number of rows that the other choices leave to it.
function itemTable(columns, rows, href, unit, {look = '', facets = []} = {}) {
  const kStep = 50;  // rows added at a time
  const [list, query] = facets.length > 0 ? location.hash.split('?') : ['', ''];
  const asked = new URLSearchParams(query);
  let order = rows.map((_, i) => i);
  let shown = 0, falling = (asked.get('sort') || '').startsWith('-');
  let sorted = columns.findIndex((column) => column.name === (asked.get('sort') || '').replace(/^-/, ''));
  const groups = facets.map((facet) => facetGroup(facet, rows, asked.getAll('facet'), () => refresh()));
  let groupsOfRows = new Map();  // tbody -> its places in `order`
  const total = h('span', {class: 'note'});
  const more = h('button', {class: 'more', onclick: () => addRows()}, 'Show more');
  const filter = h('input', {type: 'search', class: 'filter', placeholder: 'Filter (/)',
                             'aria-label': 'Filter', value: asked.get('filter') || '', oninput: () => refresh()});
  const texts = [];  // of the rows, as the filter reads them; each is made when it is first read
  const textOf = (i) => texts[i] ??=
    columns.map((column) => String(column.value(rows[i]))).join(' ').toLowerCase();

  const rowOf = (i) => h('tr', {}, columns.map((column, c) => {
    const content = column.show ? column.show(rows[i]) : column.value(rows[i]);
    return h('td', {class: column.number ? 'number' : null, 'data-name': column.name},
             c === 0 && href ? h('a', {href: href(i)}, content) : content);
  }));

  // An empty group is one cell as high as its rows were. Short lists stay as they are, for printing them.
  const near = new IntersectionObserver((seen) => {
    for (const {target, isIntersecting} of seen) {
      const places = groupsOfRows.get(target);
      if (!places || isIntersecting === !target.classList.contains('empty')) continue;
      if (!isIntersecting && (groupsOfRows.size < 6 || target.contains(document.activeElement))) continue;
      const height = `${target.offsetHeight}px`;
      target.classList.toggle('empty', !isIntersecting);
      target.replaceChildren(...(isIntersecting ? places.map(rowOf) :
        [h('tr', {}, h('td', {colspan: columns.length, style: {height}}))]));
    }
  }, {root: getComputedStyle(main).overflowY === 'auto' ? main : null, rootMargin: '800px 0px'});

  function addRows() {
    const places = order.slice(shown, shown + kStep);
    const group = h('tbody', {}, places.map(rowOf));
    groupsOfRows.set(group, places);
    table.append(group);
    near.observe(group);
    shown = Math.min(order.length, shown + kStep);
    more.hidden = shown >= order.length;
  }

  function refresh() {
    const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    const found = rows.map((_, i) => i).filter((i) => {
      const text = words.length > 0 ? textOf(i) : '';
      return words.every((word) => text.includes(word));
    });
    for (const group of groups) {
      const others = groups.filter((other) => other !== group);
      group.count(found.filter((i) => others.every((other) => other.passes(i))));
    }
    order = found.filter((i) => groups.every((group) => group.passes(i)));
    if (sorted >= 0) {
      const value = columns[sorted].value, sign = falling ? -1 : 1;
      order.sort((a, b) => {
        const [x, y] = [value(rows[a]), value(rows[b])];
        return sign * (x < y ? -1 : x > y ? 1 : 0) || a - b;
      });
    }
    near.disconnect();
    for (const group of groupsOfRows.keys()) group.remove();
    groupsOfRows = new Map();
    shown = 0;
    total.textContent = (order.length < rows.length ? `${count(order.length)} of ` : '') + plural(rows.length, unit);
    heads.forEach((head, c) => head.setAttribute(
      'aria-sort', c !== sorted ? 'none' : falling ? 'descending' : 'ascending'));
    addRows();
    if (facets.length > 0) remember();
  }

  function remember() {
    const choice = new URLSearchParams();
    for (const group of groups) if (group.choice() !== null) choice.append('facet', group.choice());
    if (sorted >= 0) choice.set('sort', (falling ? '-' : '') + columns[sorted].name);
    if (filter.value !== '') choice.set('filter', filter.value);
    const address = `${list}?${choice}`.replace(/\?$/, '');
    listsShown.set(list, {address, order});
    if (location.hash.split('?')[0] === list) history.replaceState(null, '', address);
  }

  const heads = columns.map((column, c) =>
    h('th', {class: column.number ? 'number' : null, 'aria-sort': 'none'},
      h('button', {onclick: () => {
        falling = sorted === c ? !falling : Boolean(column.number);
        sorted = c;
        refresh();
      }}, column.name)));
  const table = h('table', {class: `items ${look}`, onkeydown: (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step) return;
    const links = [...table.querySelectorAll('tr td:first-child a')];
    const next = links[links.indexOf(document.activeElement) + step];
    if (next) next.focus();
    event.preventDefault();
  }}, h('thead', {}, h('tr', {}, heads)));
  refresh();
  const atEnd = new IntersectionObserver((seen) => {
    if (more.hidden || !seen.some((one) => one.isIntersecting)) return;
    addRows();
    atEnd.unobserve(more);  // so that it says again whether the end is in view
    atEnd.observe(more);
  });
  atEnd.observe(more);
  return h('section', {}, groups.map((group) => group.element), h('div', {class: 'bar'}, filter, total),
           h('div', {class: 'scroll'}, table), more);
}

// The buttons of a facet. asked: the choices of the address. A facet with one value has no buttons.
function facetGroup(facet, rows, asked, onChange) {
  const values = rows.map((row) => [facet.of(row)].flat());
  const rank = (value) => (facet.order ?? []).indexOf(value) >>> 0;  // what has no place comes last
  const names = [...new Set(values.flat())].sort((a, b) =>
    rank(a) - rank(b) || a.localeCompare(b, 'en', {numeric: true}));
  let chosen = names.find((name) => asked.includes(`${facet.name}:${name}`)) ?? null;
  const counts = names.map(() => h('span', {class: 'number'}));
  const buttons = names.map((name, n) => h('button', {class: 'facet', onclick: () => {
    chosen = chosen === name ? null : name;
    onChange();
  }}, name + ' ', counts[n]));
  return {
    element: names.length < 2 ? null : h('div', {class: 'bar facets', role: 'group', 'aria-label': facet.name},
      h('span', {class: 'note'}, facet.name), buttons),
    passes: (i) => chosen === null || values[i].includes(chosen),
    choice: () => chosen === null ? null : `${facet.name}:${chosen}`,
    count: (found) => {
      const of = new Map(names.map((name) => [name, 0]));
      for (const i of found) for (const name of values[i]) of.set(name, of.get(name) + 1);
      names.forEach((name, n) => {
        counts[n].textContent = count(of.get(name));
        buttons[n].setAttribute('aria-pressed', String(name === chosen));
        buttons[n].disabled = of.get(name) === 0 && name !== chosen;
      });
    },
  };
}

// What the other results of the page have of a task of part `at`: episodes, trees and rows, each with its
// reward (of a tree the best one). Where the hashes of the data differ, the same id is another task. The page
// of a tree has a list of the rows made of it.
function sameTask(at, task) {
  const lines = {
    evaluation: (part) => part.episodes.map(episodeLine).map((e) => [e.task, e.reward,
      [e.attempt > 0 && `attempt ${e.attempt}`, e.end.replaceAll('_', ' '), plural(e.steps, 'step')]]),
    search: (part) => part.trees.map(treeLine).map((t) => [t.task, t.best, [plural(t.nodes, 'node')]]),
    rows: (part) => part.rows.map(rowLine).map((r) => [r.task, r.reward,
      [`row ${r.number}`, r.mistake && mistakeName(r)]]),
  };
  const own = parts[at];
  const sameTasks = (part, i) => i !== at && lines[part.kind] && part.family === own.family &&
    (!part.data || !own.data || part.data === own.data) && !(part.kind === 'rows' && part.search === at);
  const found = parts.flatMap((part, i) => !sameTasks(part, i) ? [] :
    lines[part.kind](part).map(([id, reward, what], k) => ({i, k, id: Number(id), reward, what}))
      .filter((one) => one.id === Number(task)));
  if (found.length === 0) return null;
  return h('section', {}, h('h2', {}, 'The same task in other runs'), itemTable([
    {name: 'run', value: (o) => `${kKindNames[parts[o.i].kind]}: ${labels[o.i]}`},
    {name: 'reward', value: (o) => o.reward ?? -1, show: (o) => o.reward === null ? '–' : meterCell(o.reward),
     number: true},
    {name: 'what', value: (o) => o.what.filter((text) => text).join(', ')},
  ], found, (n) => `#/${found[n].i}/${found[n].k}`, 'item'));
}

// A part of a whole, as two cells of a table: its number, and its share as a bar.
const shareCells = (value, whole) => [count(value), h('span', {class: 'share'},
  h('span', {class: 'meter'}, h('span', {style: {width: `${whole > 0 ? 100 * value / whole : 0}%`}})),
  ' ' + percent(value, whole))];

// A card with the parts of a whole: parts, name -> number.
function shareCard(title, parts, whole) {
  return h('div', {class: 'card'}, h('h3', {}, title), plainTable(null, Object.entries(parts)
    .map(([name, value]) => [name.replaceAll('_', ' ') || '–', ...shareCells(value, whole)])));
}

// A plain table. rows: arrays of texts or elements; the first column names the row.
function plainTable(heads, rows, numbers = true) {
  return h('div', {class: 'scroll'}, h('table', {},
    heads && h('thead', {}, h('tr', {}, heads.map((head, i) =>
      h('th', {class: numbers && i > 0 ? 'number' : null}, head)))),
    h('tbody', {}, rows.map((cells) => h('tr', {}, cells.map((cell, i) =>
      h(i === 0 ? 'th' : 'td', {class: numbers && i > 0 ? 'number' : null,
                                scope: i === 0 ? 'row' : null}, cell)))))));
}

// Large figures in a row: [[value, name], …].
function figures(list) {
  return h('div', {class: 'figures'}, list.filter((one) => one !== null).map(([value, name]) =>
    h('div', {class: 'figure'}, h('div', {class: 'value'}, value), h('div', {class: 'name'}, name))));
}

// A value of a JSON file as nested lists.
function jsonView(value) {
  if (value === null || typeof value !== 'object') return h('code', {}, String(value));
  const entries = Object.entries(value);
  if (entries.length === 0) return h('code', {}, Array.isArray(value) ? '[]' : '{}');
  const plain = entries.every(([, inner]) => inner === null || typeof inner !== 'object');
  if (Array.isArray(value) && plain) return h('code', {}, value.join(', '));
  return h('dl', {class: 'json'}, entries.map(([name, inner]) => [
    h('dt', {}, Array.isArray(value) ? '#' + (Number(name) + 1) : name), h('dd', {}, jsonView(inner))]));
}

// The options and the record of a result, folded.
function origin(part) {
  const section = h('section', {class: 'origin'}, h('h2', {}, 'Options and origin'));
  if (part.run !== null) {
    const box = h('div', {});
    section.append(h('details', {ontoggle: async () => {
      if (box.childElementCount > 0) return;
      box.append(jsonView(await item(part.run[0], part.run[1])));
    }}, h('summary', {}, 'Record of the runs (run.json)'), box));
  }
  if (part.toml !== null) {
    section.append(h('details', {}, h('summary', {}, 'Resolved options (give them to --config)'),
                     h('pre', {}, part.toml)));
  }
  section.append(h('p', {class: 'note'}, part.path));
  return section;
}

function problems(part) {
  if (part.problems.length === 0) return null;
  return h('section', {class: 'problems'}, h('h2', {}, 'What could not be read'),
           h('ul', {}, part.problems.map((problem) => h('li', {}, problem))));
}
