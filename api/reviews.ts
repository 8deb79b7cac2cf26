import * as z from 'zod/mini';
import { optionalQuery } from '../foundations/expression/index.ts';
import {
  displayText,
  documented,
  field,
  finite,
  integerWith,
  listSchema,
  nullish,
  problem,
  record,
  refTo,
  time,
} from '../foundations/wire/schema.ts';
import { textUpTo, typeName } from './evaluators.ts';
import { queryNames, queryText } from './fields.ts';
import { callKind, filter, noIncludes } from './queries.ts';
import { annotationSpecClass, reviewQueueClass } from './shared/classes.ts';

const maxLabels = 50;

/** The part of JSON Schema that people can be asked by. */
const fieldSchema = () =>
  record(
    {
      type: field(
        z.enum(['boolean', 'number', 'integer', 'string']),
        'Yes or no, a number, or a text: one of the labels if there is an `enum`.',
      ),
      enum: field(nullish(listSchema(textUpTo(100), maxLabels)), 'At least two labels.'),
      minimum: field(nullish(finite()), 'The least number.'),
      maximum: field(nullish(finite()), 'The largest number.'),
      maxLength: field(nullish(integerWith(z.minimum(1))), 'The most characters of a text.'),
    },
    {},
    undefined,
    z.check(({ value, issues }) => {
      const { type, enum: labels, minimum, maximum, maxLength } = value;
      const isNumber = type === 'number' || type === 'integer';
      if (labels && (labels.length < 2 || new Set(labels).size < labels.length))
        issues.push(problem('should be at least two labels, each once', value, 'enum'));
      for (const name of ['enum', 'maxLength'] as const)
        if (value[name] && type !== 'string')
          issues.push(problem('is only for the type "string"', value, name));
      if (labels && maxLength) issues.push(problem('is not for labels', value, 'maxLength'));
      for (const name of ['minimum', 'maximum'] as const)
        if (typeof value[name] === 'number' && !isNumber)
          issues.push(problem('is only for numbers', value, name));
      if (typeof minimum === 'number' && typeof maximum === 'number' && minimum >= maximum)
        issues.push(problem('should be above the minimum', value, 'maximum'));
    }),
  );

const maxOps = 100;

/** The value of an object of class `AnnotationSpec`. */
export const annotationSpec = () =>
  record(
    {
      _type: field(z.literal(annotationSpecClass), 'Its class.'),
      name: field(displayText, 'The name that people see.'),
      description: field(nullish(textUpTo(10_000)), 'What to look at, and what counts as what.'),
      field_schema: field(fieldSchema(), 'What may be filled in, as JSON Schema has it.'),
      op_scope: field(
        nullish(listSchema(textUpTo(2048), maxOps)),
        'The ops whose calls it is for, by name or by ref; a ref that ends in `:*` is for all versions.',
      ),
      unique_among_creators: field(
        nullish(z.boolean()),
        'Taken for Weave’s sake: everybody has an answer of their own.',
      ),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { _type: 'type' },
  ).register(documented, { name: 'AnnotationSpec' });

const maxFields = 20;
const maxPeople = 100;

/** The value of an object of class `ReviewQueue`. */
export const reviewQueue = () =>
  record(
    {
      _type: field(z.literal(reviewQueueClass), 'Its class.'),
      name: field(typeName, 'What people call it.'),
      filter: filter(),
      query: field(optionalQuery(callKind({ ...noIncludes, feedback: true })), queryText),
      fields: field(
        listSchema(refTo('object'), maxFields, { least: 1, noun: 'fields' }),
        'Refs to versions of objects of class `AnnotationSpec`: what is filled in.',
      ),
      reviews: field(
        nullish(integerWith(z.minimum(1), z.maximum(maxPeople))),
        'How many people review each call; 1 without it.',
      ),
      assignees: field(
        nullish(listSchema(displayText, maxPeople)),
        'The users who review; everybody without it.',
      ),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { ...queryNames, _type: 'type' },
  ).register(documented, { name: 'ReviewQueue' });
