import * as z from 'zod/mini';
import type { WireNames } from '../../core/foundations/wire/index.ts';
import { completeSchema, endSchema, startSchema } from './call-records.ts';

/** The parameters of a path that name a project. */
const pathProject = { entity: z.string(), project: z.string() };

/** The project that a path names, which that of each report has to be. */
const projectOf = (body: z.output<z.ZodMiniObject<typeof pathProject>>): string =>
  `${body.entity}/${body.project}`;

const otherProject = {
  error: 'should be the project that the path names',
  params: { type: 'value_error' },
};

/**
 * Whether a body has no problem so far. One with a problem in a report has the report as it came,
 * not as it is read.
 */
const isRead = ({ issues }: { readonly issues: readonly unknown[] }): boolean => issues.length === 0;

/** The body of `/v2/{entity}/{project}/calls/complete`: `{batch: […]}`, each a whole call. */
export const callsCompleteBody = (names: WireNames) =>
  z.pipe(
    z.strictObject({ ...pathProject, batch: z.array(completeSchema(names)) }).check(
      z.check(
        ({ value, issues }) => {
          for (const [i, reports] of value.batch.entries()) {
            const [report] = reports;
            if (report?.kind !== 'start' || report.start.projectId === projectOf(value)) continue;
            const path = ['batch', i, 'project_id'];
            issues.push({
              code: 'custom',
              message: otherProject.error,
              params: otherProject.params,
              path,
              input: value,
            });
          }
        },
        { when: isRead },
      ),
    ),
    z.transform(({ batch }) => ({ batch: batch.flat(), calls: batch.length })),
  );

/** The body of `/v2/{entity}/{project}/call/start`: `{start: {…}}`. */
export const callStartV2Body = (names: WireNames) =>
  z.strictObject({ ...pathProject, start: startSchema(names) }).check(
    z.refine((body) => body.start.projectId === projectOf(body), {
      ...otherProject,
      when: isRead,
      path: ['start', 'project_id'],
    }),
  );

/** The body of `/v2/{entity}/{project}/call/end`: `{end: {…}}`. */
export const callEndV2Body = (names: WireNames) =>
  z.strictObject({ ...pathProject, end: endSchema(names) }).check(
    z.refine((body) => body.end.projectId === projectOf(body), {
      ...otherProject,
      when: isRead,
      path: ['end', 'project_id'],
    }),
  );
