import { beforeAll, describe, expect, it } from 'vitest';
import { deleteIt, fillProject, retain } from '../../support/endpoints/project.ts';
import type { Answer, Sender } from '../../support/service/in-process.ts';
import { overHttp } from '../../support/service/over-http.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { readEverything } from '../../support/stored/searched.ts';

let service: TestService;
let sender: Sender;
beforeAll(async () => {
  service = await startService();
  sender = overHttp(service);
});

const parsed = ({ text }: Answer) => JSON.parse(text) as { done: boolean; deleted: Record<string, number> };

const fill = async (project: string): Promise<void> => {
  for (const sent of fillProject(project)) {
    const answer = await sender.send(sent);
    expect(answer, `${sent.path} ${answer.text}`).toMatchObject({ status: 200 });
  }
};

/** Where something of a project lies, in tables and bucket. */
const findPlaces = async (name: RegExp): Promise<string[]> =>
  (await readEverything(service)).filter(({ text }) => name.test(text)).map(({ where }) => where);

const ofGone = /acme\/gone(?!2)/;

describe('POST /project/delete', () => {
  it('leaves nothing of a project, and all of others', async () => {
    for (const project of ['acme/gone', 'acme/gone2']) {
      await fill(project);
      await sender.send(retain(project, { calls_days: 3650 }));
      await sender.send({ path: '/project/retention', body: { project_id: project } });
    }
    expect((await findPlaces(ofGone)).length).toBeGreaterThan(20);
    const others = await findPlaces(/acme\/gone2/);
    const answer = await sender.send(deleteIt('acme/gone'));
    expect(answer.text).toMatch(/done/);
    expect(parsed(answer)).toMatchObject({
      done: true,
      deleted: { calls: 22, feedback: 2, object_versions: 4, tables: 1, files: 2, prices: 1 },
    });
    expect(await findPlaces(ofGone)).toEqual([]);
    expect((await findPlaces(/acme\/gone2/)).sort()).toEqual(others.sort());
  });
});
