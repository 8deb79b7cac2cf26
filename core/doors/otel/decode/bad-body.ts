import { ServiceError } from '../../../foundations/wire/index.ts';

const maxMessage = 500;

/** 400: the body is no export. OTLP has it in the place of a 422. */
export const badBody = (problem: string, cause?: unknown): ServiceError =>
  new ServiceError(
    400,
    [{ loc: ['body'], msg: `the body ${problem.slice(0, maxMessage)}`, type: 'value_error' }],
    { cause },
  );
