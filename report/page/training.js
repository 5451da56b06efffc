// A training: curves over its steps. Learning from reward: curves over the transitions played, or over
// iterations where nothing is played.

function trainingPage(part) {
  const lines = part.metrics;
  if (lines.some((line) => line.evaluation || line.transitions !== undefined)) return rewardPage(part);
  const trained = lines.filter((line) => line.train);
  const kinds = [...new Set(trained.flatMap((line) => Object.keys(line.train)
    .filter((name) => typeof line.train[name] === 'object' && line.train[name] !== null)))];
  const points = (list, value) => list.map((line) => [line.step, value(line)])
    .filter((point) => typeof point[1] === 'number');
  const byKind = (field) => [
    {name: 'all', points: points(trained, (line) => line.train[field])},
    ...kinds.map((kind) => ({name: kind, points: points(trained, (line) => line.train[kind]?.[field])})),
    {name: 'held out', points: points(lines, (line) => line.held_out?.[field])},
  ].filter((series) => series.points.length > 0);
  const one = (title, value, options) => {
    const found = points(lines, value);
    return found.length > 0 ? lineChart(title, [{name: title, points: found}], options) : null;
  };
  const plays = ['success', 'reward'].map((name) => ({
    name, points: points(lines, (line) => line.play?.[name]?.mean ?? line.play?.[name])}))
    .filter((series) => series.points.length > 0);
  const last = trained[trained.length - 1];
  const sum = (value) => trained.reduce((total, line) => total + (value(line) || 0), 0);
  return [
    h('h1', {}, `Training: ${labelOf(part)}`),
    last && figures([
      [count(last.step), 'steps'], [fixed(last.train.loss), 'last loss'],
      [percent(last.train.accuracy, 1), 'accuracy of the last step'],
      [count(sum((line) => line.train.tokens)), 'trained tokens'],
      [count(sum((line) => line.rows)), 'rows'],
      [duration(sum((line) => line.speed?.seconds)), 'in steps']]),
    problems(part),
    lines.length === 0 && h('p', {class: 'note'}, 'No step has been finished yet.'),
    h('div', {class: 'charts'},
      lineChart('Loss by kind of text', byKind('loss')),
      lineChart('Accuracy of the next token', byKind('accuracy'), {zero: false}),
      plays.length > 0 && lineChart('Plays during the training', plays),
      one('Gradient norm', (line) => line.gradient_norm),
      one('Learning rate', (line) => line.lr, {exact: true}),
      one('Row tokens per second', (line) => line.speed?.row_tokens_per_s),
      one('Memory (GiB)', (line) => line.speed?.memory_gib, {exact: true})),
    h('p', {class: 'note'}, 'The thin line is each step, the thick one the mean of the latest steps. ' +
      'A click on a name hides its line.'),
    origin(part),
  ];
}

function rewardPage(part) {
  const lines = [];  // with x: the transitions so far
  for (const line of part.metrics) {
    const before = lines.length > 0 ? lines[lines.length - 1].x : 0;
    lines.push({...line, x: line.transitions ?? (line.evaluation ? before : line.step)});
  }
  const chart = (title, parts) => lineChart(title, parts
    .map(([name, value]) => ({name, points: lines.map((line) => [line.x, value(line)])
      .filter((point) => typeof point[1] === 'number')}))
    .filter((series) => series.points.length > 0));
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
    h('div', {class: 'charts'}, ofEpisodes('Success', 'success'), ofEpisodes('Return', 'return'),
      ofEpisodes('Steps of an episode', 'length'), ...ofLosses),
    h('p', {class: 'note'}, 'The horizontal axis counts transitions, or iterations where none are played. ' +
      'The thin line is each iteration, the thick one the mean of the latest ones. A click on a name hides its line.'),
    origin(part),
  ];
}
