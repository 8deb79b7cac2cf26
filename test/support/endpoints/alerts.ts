import type { Fixture } from './fixture.ts';

/** The routes of alerts. */
export const alertFixtures = {
  '/alerts/test': {
    permitted: [],
    body: (p, { object }) => ({ project_id: p, object_id: object }),
    status: 422,
    answer: JSON.stringify({
      detail: [
        {
          loc: ['body'],
          msg: 'alerts are switched off here: the operator switches them on with the setting alerts',
          type: 'value_error',
        },
      ],
    }),
  },
} as const satisfies Readonly<Record<string, Fixture>>;
