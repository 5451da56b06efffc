// Rows of training data: the audit, the table of rows, and one row beside the paths of the tree from
// which it was made.

const kPartNames = ['instruction', 'start', 'shared prefix', 'bad steps', 'revision', 'recovery',
                    'good path'];
const [kFirst, kPrefix, kBad, kRevision, kRecovery, kGood] = [1, 2, 3, 4, 5, 6];

function rowsPage(part, at) {
  const rows = part.rows.map(rowLine);
  return [
    h('h1', {}, `Training rows: ${labelOf(part)}`),
    part.audit && figures([
      [count(part.audit.rows), 'rows'], [count(part.audit.tasks), 'tasks'],
      [percent(part.audit.tokens.trained, part.audit.tokens.all), 'of the tokens trained'],
      [count(part.audit.rows_with_a_revision), 'rows with a revision'],
      [number(part.audit.bad_steps_per_row), 'bad steps per row']]),
    part.total > rows.length && h('p', {class: 'note'},
      `This page has ${count(rows.length)} of ${count(part.total)} rows (agent_report --rows).`),
    problems(part),
    part.audit && auditSection(part),
    h('h2', {}, 'Rows'),
    itemTable([
      {name: 'row', value: (r) => r.number, number: true},
      {name: 'task', value: (r) => Number(r.task), number: true},
      {name: 'mistake', value: (r) => mistakeName(r)},
      {name: 'steps to the first error', value: (r) => r.position, show: (r) => r.position < 0 ? '–' : r.position,
       number: true},
      {name: 'bad steps', value: (r) => r.badSteps, number: true},
      {name: 'replay', value: (r) => r.replay || '–'},
    ], rows, (i) => `#/${at}/${i}`, 'row', {facets: [
      {name: 'mistake', of: mistakeName},
      {name: 'replay', order: ['verified'], of: (r) => r.replay || 'unknown'},
      {name: 'steps to the first error', order: kSizes, of: (r) => sizeName(r.position)},
    ]}),
    origin(part),
  ];
}

const mistakeName = (row) => row.mistake.replaceAll('_', ' ') || '–';

function auditSection(part) {
  const audit = part.audit, trained = audit.trained || {};
  const judged = Object.entries(part.counts).filter(([name]) => ['replay', 'judgements'].includes(name));
  return h('section', {}, h('h2', {}, 'Audit'), h('div', {class: 'cards'},
    h('div', {class: 'card'}, h('h3', {}, 'Trained turns'), plainTable(null,
      Object.entries(trained).map(([name, value]) =>
        [name.replaceAll('_', ' '), ...shareCells(value, name === 'turns' ? audit.turns : trained.turns)]))),
    Object.entries(audit.rows_by || {}).map(([label, values]) => shareCard(`Rows by ${label}`, values, audit.rows)),
    audit.positions && shareCard('Steps to the first error', audit.positions, audit.rows),
    judged.map(([name, values]) => shareCard(name === 'replay' ? 'Replays' : 'Judgements of steps', values,
      Object.values(values).reduce((sum, value) => sum + value, 0))),
    countsCard(part.counts)));
}

// Of what a count is a part, where it is a part of something (revision/make/counts.h).
const kWholes = {
  without_good: 'trees', without_pairs: 'trees', other_start: 'trees', cache_hits: 'trees',
  good_paths: 'paths', bad_paths: 'paths',
  duplicate_drafts: 'pairs_found', contradictions: 'pairs_found', pairs: 'pairs_found',
  disagreeing_rows: 'pairs', unclean_rows: 'pairs', too_long: 'pairs', rows_before_dedup: 'pairs',
};

// The counts of the program that made the rows: each part below its whole with its share, and those
// that are 0 in one line.
function countsCard(counts) {
  const words = (name) => name.replaceAll('_', ' ');
  const names = Object.keys(counts).filter((name) => typeof counts[name] === 'number');
  const some = names.filter((name) => counts[name] !== 0);
  const wholeOf = (name) => counts[kWholes[name]] >= counts[name] ? kWholes[name] : undefined;
  const lines = (whole, level) => some.filter((name) => wholeOf(name) === whole).flatMap((name) => [
    [h('span', {class: 'inner', style: {'--level': String(level)}}, words(name)),
     ...(whole ? shareCells(counts[name], counts[whole]) : [count(counts[name]), ''])],
    ...lines(name, level + 1)]);
  const none = names.filter((name) => counts[name] === 0).map(words);
  return names.length > 0 && h('div', {class: 'card'}, h('h3', {}, 'How the rows were made'),
    plainTable(null, lines(undefined, 0)),
    none.length > 0 && h('p', {class: 'note'}, `None of: ${none.join(', ')}`));
}

async function rowPage(part, at, number_) {
  const line = rowLine(part.rows[number_]);
  const row = await item(line.block, line.at);
  const search = part.search >= 0 ? parts[part.search] : null;
  const treeAt = search ? search.trees.findIndex((one) => one[0] === Number(line.task)) : -1;
  const tree = treeAt >= 0 ? await readTree(search, treeLine(search.trees[treeAt])) : null;
  const rewards = row.provenance.rewards || {};
  return [
    h('h1', {}, `Row ${line.number} of ${labelOf(part)}, task ${line.task}`),
    h('div', {class: 'bar'},
      tree && h('a', {class: 'button', href: `#/${part.search}/${treeAt}` +
                      (line.firstError >= 0 ? `?node=${line.firstError}` : '')},
                'Show it in its tree'),
      line.mistake && badge('error', line.mistake.replaceAll('_', ' ')),
      row.provenance.replay && badge(row.provenance.replay === 'verified' ? 'good' : 'bad',
                                     `replay ${row.provenance.replay}`),
      h('span', {class: 'note'}, row.provenance.reason || '')),
    h('p', {class: 'legend'},
      h('span', {class: 'key trainedkey'}, h('span', {class: 'swatch'}), 'trained'),
      [kPrefix, kBad, kRevision, kRecovery, kGood].map((kind) =>
        h('span', {class: 'key part' + kind}, h('span', {class: 'swatch'}), kPartNames[kind]))),
    sideBySide(row, line, tree, rewards),
    h('section', {}, h('details', {}, h('summary', {}, 'Instruction'),
      row.messages.filter((m) => m[3] === 0).map(([role, text]) => message(role, text)))),
    h('section', {}, h('details', {}, h('summary', {}, 'Provenance'), jsonView(row.provenance))),
    sameTask(at, line.task),
  ];
}

// Three columns whose parts stand beside each other: the bad path, the row, the good path. A page
// that stands in one of them is folded where it comes again, below or beside it.
function sideBySide(row, line, tree, rewards) {
  const pair = tree !== null && line.bad >= 0;
  const badPath = pair ? pathTo(tree, line.bad).slice(1) : [];
  const goodPath = tree && line.good >= 0 ? pathTo(tree, line.good).slice(1) : [];
  const shared = badPath.filter((node) => goodPath.includes(node)).length;
  const errorAt = badPath.findIndex((node) => node.index === line.firstError);
  const end = errorAt >= 0 ? errorAt + 1 : shared + Math.max(line.badSteps, 0);
  // The paths part in a state, and steps that changed nothing may lie between it and the bad steps.
  const begin = Math.max(0, end - Math.max(line.badSteps, 1));
  const ofRow = stepsOfRow(row);
  const bands = [
    [kPrefix, stepsOfPath(badPath, 0, begin, kPrefix), ofRow(kPrefix),
     stepsOfPath(goodPath, 0, shared, kPrefix)],
    [kBad, stepsOfPath(badPath, begin, end, kBad), ofRow(kBad), []],
    [kRevision, [], ofRow(kRevision), []],
    [kRecovery, [], ofRow(kRecovery), []],
    [kGood, stepsOfPath(badPath, end, badPath.length, kBad), ofRow(kGood),
     stepsOfPath(goodPath, shared, goodPath.length, kGood)],
  ].filter(([, ...cells]) => cells.some((cell) => cell.length > 0));
  const columns = [
    pair && ['Bad path', rewards.bad, 'the bad path'], ['Row', rewards.replay, 'the row'],
    goodPath.length > 0 && ['Good path', rewards.good, 'the good path']];
  const keep = (cells) => cells.filter((_, i) => columns[i]);
  const first = row.messages.filter((m) => m[3] === kFirst);
  const start = first.map(([, text]) => text).join('\n');
  const observation = observationsAfter(start);
  const latest = new Map();  // column -> its latest observation
  const shown = ({role, text, classes, step}, column) => {
    const before = latest.get(column) ?? start;
    if (role === 'user') latest.set(column, text);
    return message(role, role !== 'user' ? text :
      observation(text, before, `in step ${step} of ${column}`), classes, `step ${step}`);
  };
  return h('div', {class: `side columns${keep(columns).length}`},
    keep(columns).map(([name, reward]) => h('div', {class: 'head'}, name,
      reward !== undefined && reward !== null && h('span', {class: 'note'}, ` reward ${number(reward)}`))),
    h('div', {class: 'band'}, first.map(([role, text]) => message(role, text, `part${kFirst}`))),
    bands.map(([kind, ...cells]) => [
      h('div', {class: 'bandname part' + kind}, kPartNames[kind]),
      keep(cells).map((cell, i) => {
        const [name, , column] = keep(columns)[i];
        const steps = cell.map((one) => shown(one, column));
        const few = kind !== kPrefix || cell.length <= 4;
        return h('div', {class: 'cell', 'data-name': name}, few ? steps :
          h('details', {}, h('summary', {}, plural(cell.length / 2, 'step')), steps));
      })]));
}

// The messages of a row by their part, each with the number of its step.
function stepsOfRow(row) {
  let step = 0;
  const messages = row.messages.map(([role, text, trained, part]) => {
    if (part > kFirst && role === 'assistant') ++step;
    return {role, text, part, step, classes: `part${part}` + (trained ? ' trained' : '')};
  });
  return (part) => messages.filter((one) => one.part === part);
}

// The messages of the steps from `begin` to `end` of a path of a tree.
function stepsOfPath(path, begin, end, part) {
  return path.slice(begin, end).flatMap((node, i) => {
    const classes = `part${part}` + (node.unchanged ? ' unchanged' : ''), step = begin + i + 1;
    return [{role: 'assistant', text: node.response, classes, step},
            {role: 'user', text: node.observation, classes, step}];
  });
}
