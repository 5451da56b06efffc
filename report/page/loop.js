// A run of self_train: the table of its iterations, and the time of each stage.

// The part with the results of a stage: the one whose path has the folder of the stage in it.
function partOfStage(loop, stage) {
  const folder = `${loop.path}/${stage.stage}/`;
  return parts.findIndex((part) => (part.path + '/').startsWith(folder));
}

function loopPage(part) {
  const of = (program) => part.stages.filter((stage) => stage.program === program);
  const link = (stage) => {
    const at = partOfStage(part, stage);
    return at >= 0 ? h('a', {href: `#/${at}`}, stage.stage) : stage.stage;
  };
  const evaluations = of('agent_eval');
  const total = part.stages.reduce((sum, stage) => sum + stage.wall_s, 0);
  return [
    h('h1', {}, `Loop: ${labelOf(part)}`),
    figures([[count(evaluations.length), 'evaluations'],
             [count(of('agent_train').length), 'trainings'],
             [duration(total), 'in finished stages']]),
    problems(part),
    intervalChart('Success with 95 % intervals over tasks', evaluations.map((stage) => ({
      name: stage.stage, estimate: stage.result.success,
      href: partOfStage(part, stage) >= 0 ? `#/${partOfStage(part, stage)}` : null}))),
    h('h2', {}, 'Evaluations'),
    plainTable(['', 'success', 'reward', 'success against the start, paired', 'refused', 'loops',
                'revisions', 'errors revised'],
               evaluations.map((stage) => evaluationLine(part, stage, evaluations, link))),
    h('h2', {}, 'Rows'),
    plainTable(['', 'rows', 'tasks', 'trained tokens', 'of all'], of('path_collect').map((stage) => {
      const audit = stage.result.audit || {}, tokens = audit.tokens || {trained: 0, all: 0};
      return [link(stage), count(stage.result.rows || 0), count(audit.tasks || 0),
              count(tokens.trained), percent(tokens.trained, tokens.all)];
    })),
    h('h2', {}, 'Time'),
    h('div', {class: 'durations'}, part.stages.map((stage) => [
      h('span', {}, link(stage)),
      h('span', {class: 'meter long'}, h('span', {style: {width: `${100 * stage.wall_s / total}%`}})),
      h('span', {class: 'number'}, duration(stage.wall_s))])),
    h('section', {}, h('h2', {}, 'Arguments of the stages'), part.stages.map((stage) =>
      h('details', {}, h('summary', {}, `${stage.stage}: ${stage.program}`),
        h('pre', {}, [stage.program, ...stage.arguments].join(' \\\n  '))))),
    origin(part),
  ];
}

function evaluationLine(loop, stage, evaluations, link) {
  const result = stage.result;
  // The start model in the same kind of evaluation (greedy or sampled).
  const kind = stage.stage.split('/').pop();
  const start = evaluations.find((one) => one.stage.split('/').pop() === kind);
  const [a, b] = [partOfStage(loop, start), partOfStage(loop, stage)];
  const compared = index.comparisons.find((one) => one.a === a && one.b === b);
  return [link(stage), interval(result.success), interval(result.reward),
          compared ? `${differenceText(compared.success)}, ${pText(compared.success.p)}` : '',
          percent(result.refused_steps, result.steps), count(result.looping_episodes || 0),
          count(result.revision_events || 0),
          `${count(result.revised_errors || 0)} of ${count(result.errors || 0)}`];
}
