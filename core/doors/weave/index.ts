import type { Door } from '../../../foundations/door.ts';
import { bytesDigest, pythonJson } from './digest.ts';
import { fieldNames, refsToWeave } from './names.ts';

export { completionBody } from './completions.ts';
export { answerGraphql } from './graphql.ts';
export { answerToWeave, errorToWeave, refsToWeave } from './names.ts';
export { readRequest } from './requests.ts';

/** What Weave's door decides. Digests are of what its SDKs have sent, whose refs have their scheme. */
export const weaveDoor: Door = {
  digests: {
    ofBytes: bytesDigest,
    ofValue: (value) => bytesDigest(refsToWeave(pythonJson(value))),
  },
  names: fieldNames,
};
