import { doorRoutes } from '../support/endpoints/index.ts';
import { sample } from '../support/run/sampling.ts';
import { describeKills, useKiller } from './kills.ts';

const killer = useKiller();
const writing = doorRoutes.filter(({ role }) => role === 'write').map(({ path }) => path);
describeKills(killer, sample(writing, 4, 'kills'), { most: 1 });
