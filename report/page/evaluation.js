// Evaluations: figures with intervals, the table of episodes, one episode, and paired comparisons.

function evaluationPage(part, at) {
  const summary = part.summary || {};
  const episodes = part.episodes.map(episodeLine);
  return [
    h('h1', {}, `Evaluation: ${labelOf(part)}`),
    summary.success !== undefined && figures([
      [interval(summary.success), 'success, 95 % interval over tasks'],
      [interval(summary.reward), 'reward'],
      [number(summary.mean_steps ?? 0), 'steps per episode'],
      [percent(summary.refused_steps, summary.steps), 'of the steps refused'],
      [percent(summary.looping_episodes, summary.with_result), 'of the episodes repeat themselves'],
      [`${count(summary.revised_errors || 0)} of ${count(summary.errors || 0)}`, 'errors revised']]),
    summary.slips && slipFigures(summary.slips, summary.with_result),
    summary.complete === false && h('p', {class: 'warning'},
      `Incomplete: ${count(summary.asked_for - summary.with_result)} of ${count(summary.asked_for)} ` +
      'episodes have no result yet. Episodes that end early are over-represented.'),
    part.total > episodes.length && h('p', {class: 'note'},
      `This page has ${count(episodes.length)} of ${count(part.total)} episodes (agent_report --episodes).`),
    problems(part),
    comparisonsOf(at),
    summary.ends && h('section', {}, h('h2', {}, 'Ends and attempts'), h('div', {class: 'cards'},
      shareCard('Ends', Object.fromEntries(Object.entries(summary.ends).filter(([, value]) => value > 0)),
                summary.episodes),
      summary.attempts && h('div', {class: 'card'}, h('h3', {}, 'By attempts'),
        plainTable(['k', 'avg@k', 'pass@k', 'tasks'], summary.attempts.map((one) =>
          [one.k, fixed(one.avg), fixed(one.pass), count(one.tasks)]))))),
    h('h2', {}, 'Episodes'),
    itemTable([
      {name: 'task', value: (e) => e.task, number: true},
      {name: 'attempt', value: (e) => e.attempt, number: true},
      {name: 'reward', value: (e) => e.reward, show: (e) => meterCell(e.reward), number: true},
      {name: 'end', value: (e) => e.end.replaceAll('_', ' ')},
      {name: 'steps', value: (e) => e.steps, number: true},
      {name: 'refused', value: (e) => e.refused, number: true},
      {name: 'revisions', value: (e) => e.revisions, number: true},
    ], episodes, (i) => `#/${at}/${i}`, 'episode', {facets: episodeFacets(summary)}),
    origin(part),
  ];
}

// Numbers of refused steps of an episode, in groups.
const kRefusals = ['none', '1', '2 or 3', '4 or more'];

function episodeFacets(summary) {
  const full = summary.success_threshold ?? 1;
  return [
    {name: 'result', order: ['success', 'failure'],
     of: (e) => e.end.endsWith('_error') ? 'no result' : e.reward >= full ? 'success' : 'failure'},
    {name: 'end', order: ['done', 'max steps', 'cut turn', 'last step refused'],
     of: (e) => [e.end.replaceAll('_', ' '), ...(e.endsRefused ? ['last step refused'] : [])]},
    {name: 'refusals', order: kRefusals, of: (e) =>
      kRefusals[e.refused < 2 ? e.refused : e.refused < 4 ? 2 : 3]},
    {name: 'revisions', order: ['with revisions'], of: (e) => e.revisions > 0 ? 'with revisions' : 'none'},
  ];
}

// What follows slips (agent_eval --slip).
function slipFigures(slips, episodes) {
  return figures([
    [percent(slips.slips, slips.steps), 'of the steps slip'],
    [percent(slips.slipping_successes, slips.slipping_episodes), 'success in episodes with a slip'],
    [percent(slips.revised_slips, slips.slips), `slips revised within ${slips.window} steps`],
    [slips.mean_steps_to_undo === null ? '–' : number(slips.mean_steps_to_undo), 'steps until a slip is undone'],
    [percent(slips.false_revisions, slips.revisions), 'of the revisions without a reason'],
    [percent(slips.refused_own_steps, slips.steps - slips.slips), 'of the other steps refused'],
    ...slips.behind_refusals > 0 ? [
      [percent(slips.said_again, slips.behind_refusals), 'of them said again'],
      [percent(slips.then_taken, slips.behind_refusals), 'of them followed by one that is not refused']] : [],
    [percent(slips.ended_in_loop, episodes), 'of the episodes end in a loop']]);
}

async function episodePage(part, at, number_) {
  const line = episodeLine(part.episodes[number_]);
  const episode = await item(line.block, line.at);
  const shown = observationsAfter(episode.first);
  return [
    h('h1', {}, `${part.family}, task ${line.task}` + (line.attempt > 0 ? `, attempt ${line.attempt}` : '')),
    figures([[number(line.reward), 'reward'], [line.end.replaceAll('_', ' '), 'end'],
             [count(line.steps), 'steps'], [count(line.refused), 'refused']]),
    episode.error && h('p', {class: 'warning'}, episode.error),
    episode.replayed > 0 && h('p', {class: 'note'},
      `The first ${episode.replayed} turns were replayed; the model continued after them.`),
    h('div', {class: 'conversation'}, message('user', episode.first),
      episode.turns.map((_, i) => stepView(episode, i, shown))),
    h('section', {}, h('details', {}, h('summary', {}, 'Instruction'),
      part.instruction.map(([role, text]) => message(role, text)))),
    sameTask(at, line.task),
  ];
}

// A step: its action, then the thought before it and the observation after it, as `shown` shows it.
function stepView(episode, i, shown) {
  const [response, action, observation, refused, said, tokens, logprob] = episode.turns[i];
  const before = i > 0 ? episode.turns[i - 1][2] : episode.first;
  const thought = thoughtOf(response, action);
  const facts = [tokens && plural(tokens, 'token'),
                 typeof logprob === 'number' && `mean log-probability ${fixed(logprob)}`].filter((fact) => fact);
  return h('section', {class: 'step' + (refused ? ' part3' : i < episode.replayed ? ' part2' : '')},
    h('div', {class: 'head'}, h('span', {class: 'count'}, i + 1),
      h('span', {class: 'action'}, action === '' ? h('i', {}, 'no action') : action),
      refused ? badge('bad', 'refused') : null, i < episode.replayed && badge('', 'replayed'),
      h('span', {class: 'note'}, facts.join(', '))),
    typeof said === 'string' && h('p', {class: 'note'}, said === '' ? 'A slip: this was never done.' :
      `A slip: the agent said "${said}", and "${action}" was done.`),
    thought !== '' && h('div', {class: 'message assistant'}, h('div', {class: 'text'}, thought)),
    h('div', {class: 'message user'}, shown(observation, before, `in step ${i + 1}`)));
}

// A response without the action at its end and without the names of both; one of another form in full.
function thoughtOf(response, action) {
  const text = response.trim();
  if (action === '' || !text.endsWith(action)) return text;
  const before = text.slice(0, -action.length).trimEnd();
  return !/(^|\s)action:$/i.test(before) ? text :
    before.slice(0, -'action:'.length).trim().replace(/^thought:\s*/i, '');
}

const differenceText = (measure) => measure.difference === null ? '–' :
  `${signed(measure.difference.mean)} [${signed(measure.difference.low)}, ` +
  `${signed(measure.difference.high)}]`;
const pText = (p) => p < 0.001 ? 'p < 0.001' : `p ${p.toFixed(3)}`;

function comparisonsOf(at) {
  const found = index.comparisons.filter((one) => one.a === at || one.b === at);
  if (found.length === 0) return null;
  return h('section', {}, h('h2', {}, 'Paired comparisons on the same tasks'),
           found.map((one) => comparisonView(one)));
}

// Differences are b - a: what b gained.
function comparisonView(one) {
  const name = (part) => h('a', {href: `#/${part}`}, labels[part]);
  const tasks = (list) => list.length === 0 ? 'none' : list.map((task, i) => [
    i > 0 ? ', ' : '', `${task.task} (${number(task.a)} → ${number(task.b)})`]);
  const row = (title, measure) => [title, interval(measure.a), interval(measure.b),
                                   differenceText(measure), pText(measure.p)];
  return h('div', {class: 'card comparison'},
    h('p', {}, 'From ', name(one.a), ' to ', name(one.b), ', ' + plural(one.tasks, 'task')),
    plainTable(['', 'from', 'to', 'paired difference', ''],
               [row('success', one.success), row('reward', one.reward)]),
    one.recovery_rate && h('p', {}, `Recovery rate, success with slips over success without: ` +
                                    interval(one.recovery_rate)),
    h('details', {}, h('summary', {}, `${plural(one.won.length, 'task')} better, ${one.lost.length} worse, ` +
                                      `${one.ties} equal`),
      h('p', {}, h('b', {}, 'Better: '), tasks(one.won)),
      h('p', {}, h('b', {}, 'Worse: '), tasks(one.lost))));
}
