/** The value of an evaluator whose judge says whether an output is polite. */
export const politeness = (fields: object = {}) => ({
  _type: 'Evaluator',
  name: 'polite',
  on: 'call',
  sample_rate: 1,
  judge: {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Is this polite? {{output}}' }],
    answer: { type: 'boolean' },
  },
  max_usd_per_day: 1,
  enabled: true,
  ...fields,
});

/** The value of an evaluator that checks calls without a model. */
export const checking = (check: object, fields: object = {}) => {
  const { judge: _judge, max_usd_per_day: _most, ...rest } = politeness();
  return { ...rest, name: 'checked', check, ...fields };
};
