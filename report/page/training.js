// A training: curves over its steps. Learning from reward: curves over the transitions played, or over
// iterations where nothing is played. Both can be drawn over trained tokens or over time, and beside
// another run; the choice is in the address, so that a link shows the same.

// What is on the horizontal axis: the value of a line of metrics, given that of the line before it.
const kAxes = {
  steps: (line, before) => line.transitions ?? (line.evaluation ? before : line.step),
  tokens: (line, before) => before + (line.train?.tokens || 0),
  minutes: (line, before) => before + (line.speed?.seconds || 0) / 60,
};
const kSmoothing = {mean: 1 / 25, more: 1 / 8, none: 0};

const isReward = (part) =>
  part.metrics.some((line) => line.evaluation || line.transitions !== undefined);

// [place, label, run] of the runs that can be drawn beside this one.
const comparable = (part) => parts.map((other, i) => [String(i), labels[i], other])
  .filter(([, , other]) => other !== part && other.kind === 'training' && isReward(other) === isReward(part));

// The axes along which this run goes on.
const axesOf = (part) => Object.keys(kAxes).filter((axis) =>
  axis === 'steps' || placed(part, axis).some((line) => line.x > 0));

// {x, smooth, beside}: beside is the place of another run, or ''.
function curveChoice(part) {
  const query = new URLSearchParams(location.hash.split('?')[1] || '');
  const of = (name, values, otherwise) => values.includes(query.get(name)) ? query.get(name) : otherwise;
  return {x: of('x', axesOf(part), 'steps'), smooth: of('smooth', Object.keys(kSmoothing), 'mean'),
          beside: of('beside', comparable(part).map(([place]) => place), '')};
}

// The lines of metrics with their place x on the axis.
function placed(part, axis) {
  let x = 0;
  return part.metrics.map((line) => ({...line, x: x = kAxes[axis](line, x)}));
}

function curveControls(part, choice) {
  const at = parts.indexOf(part);
  const choose = (name, label, options) => {
    const list = h('select', {'aria-label': label, onchange: () => {
      location.hash = `#/${at}?` + new URLSearchParams({...choice, [name]: list.value});
    }}, options.map(([value, text]) =>
      h('option', {value, selected: value === choice[name]}, text)));
    return h('label', {}, label + ' ', list);
  };
  const others = comparable(part);
  return h('div', {class: 'bar'},
    choose('x', 'Over', axesOf(part).map((name) => [name, name === 'tokens' ? 'trained tokens' : name])),
    choose('smooth', 'Smoothing', Object.keys(kSmoothing).map((name) => [name, name])),
    others.length > 0 && choose('beside', 'Beside', [['', 'no other run'], ...others]));
}

// A chart of this run and, dashed, of the one beside it. `seriesOf` gives [[name, value of a line], …] of a run.
function curve(part, choice, title, seriesOf, options = {}) {
  const runs = [part, ...(choice.beside === '' ? [] : [parts[Number(choice.beside)]])];
  const names = [];
  const series = runs.flatMap((run, r) => seriesOf(run).map(([name, value]) => {
    if (!names.includes(name)) names.push(name);
    return {name: r > 0 ? `${name}, ${labelOf(run)}` : name, color: names.indexOf(name), dashed: r > 0,
            points: placed(run, choice.x).map((line) => [line.x, value(line)])
              .filter((point) => typeof point[1] === 'number')};
  })).filter((one) => one.points.length > 0);
  return lineChart(title, series, {unit: choice.x, smooth: kSmoothing[choice.smooth], ...options});
}

function trainingPage(part) {
  if (isReward(part)) return rewardPage(part);
  const lines = part.metrics, choice = curveChoice(part);
  const trained = lines.filter((line) => line.train);
  const byKind = (field) => (run) => {
    const kinds = [...new Set(run.metrics.flatMap((line) => Object.keys(line.train ?? {})
      .filter((name) => typeof line.train[name] === 'object' && line.train[name] !== null)))];
    return [['all', (line) => line.train?.[field]],
            ...kinds.map((kind) => [kind, (line) => line.train?.[kind]?.[field]]),
            ['held out', (line) => line.held_out?.[field]]];
  };
  const plays = () => ['success', 'reward'].map((name) =>
    [name, (line) => line.play?.[name]?.mean ?? line.play?.[name]]);
  const chart = (title, seriesOf, options) => curve(part, choice, title, seriesOf, options);
  const one = (title, value, options) => chart(title, () => [[title, value]], options);
  const last = trained[trained.length - 1];
  const sum = (value) => trained.reduce((total, line) => total + (value(line) || 0), 0);
  return [
    h('h1', {}, `Training: ${labelOf(part)}`),
    last && figures([
      [count(last.step), 'steps'], [fixed(last.train.loss), 'last loss'],
      last.train.accuracy === undefined ? null : [percent(last.train.accuracy, 1), 'accuracy of the last step'],
      [count(sum((line) => line.train.tokens)), 'trained tokens'],
      [count(sum((line) => line.rows)), 'rows'],
      [duration(sum((line) => line.speed?.seconds)), 'in steps']]),
    problems(part),
    lines.length === 0 && h('p', {class: 'note'}, 'No step has been finished yet.'),
    curveControls(part, choice),
    h('div', {class: 'charts'},
      chart('Loss by kind of text', byKind('loss')),
      chart('Accuracy of the next token', byKind('accuracy'), {zero: false}),
      chart('Plays during the training', plays),
      one('Gradient norm', (line) => line.gradient_norm),
      one('Learning rate', (line) => line.lr, {exact: true}),
      one('Row tokens per second', (line) => line.speed?.row_tokens_per_s),
      one('Memory (GiB)', (line) => line.speed?.memory_gib, {exact: true})),
    h('p', {class: 'note'}, 'The thin line is each step, the thick one the mean of the latest steps; dashed is the run ' +
      'beside it. A click on a name hides its line.'),
    origin(part),
  ];
}

function rewardPage(part) {
  const choice = curveChoice(part), lines = placed(part, 'steps');
  const chart = (title, series) => curve(part, choice, title, () => series);
  const ofEpisodes = (title, field) => chart(title,
    [['while learning', (line) => line.play?.[field]], ['evaluated', (line) => line.evaluation?.[field]]]);
  const ofLosses = ['train', 'critic'].flatMap((group) => {
    const names = lines.flatMap((line) => Object.entries(line[group] ?? {})
      .filter(([, value]) => typeof value === 'number').map(([name]) => name));
    const varies = (name) => new Set(lines.map((line) => line[group]?.[name])
      .filter((value) => value !== undefined)).size > 1 || lines.length < 3;
    return [...new Set(names)].filter(varies).map((name) => chart(
      (group === 'critic' ? 'critic: ' : '') + name.replaceAll('_', ' '),
      [[name, (line) => line[group]?.[name]]]));
  });
  const last = lines[lines.length - 1];
  const played = lines.findLast((line) => line.transitions !== undefined);
  const evaluations = lines.filter((line) => line.evaluation);
  const result = evaluations[evaluations.length - 1]?.evaluation;
  return [
    h('h1', {}, `Learning from reward: ${labelOf(part)}`),
    figures([
      [count(last.step), 'iterations'],
      ...(played ? [[count(played.transitions), 'transitions']] : []),
      ...(result ? [[percent(result.success, 1), 'success of the last evaluation'],
                  [fixed(result.return), 'return of the last evaluation']] : []),
      [duration(lines.reduce((total, line) => total + (line.speed?.seconds || 0), 0)), 'in iterations']]),
    problems(part),
    curveControls(part, choice),
    h('div', {class: 'charts'}, ofEpisodes('Success', 'success'), ofEpisodes('Return', 'return'),
      ofEpisodes('Steps of an episode', 'length'), ...ofLosses),
    h('p', {class: 'note'}, 'Steps are transitions, or iterations where none are played. ' +
      'The thin line is each iteration, the thick one the mean of the latest ones; dashed is the run beside it. ' +
      'A click on a name hides its line.'),
    origin(part),
  ];
}
