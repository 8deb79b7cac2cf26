import { isKeyed } from '../../api/endpoint.ts';
import { weaveRoutes } from '../../weave/api/routes.ts';
import { sample } from '../support/sampling.ts';
import { describeKills, useKiller } from './kills.ts';

const killer = useKiller({ dialect: 'weave' });
const writing = weaveRoutes
  .filter(isKeyed)
  .filter(({ role }) => role === 'write')
  .map(({ path }) => path);
describeKills(killer, sample(writing, 4, 'kills'), { dialect: 'weave', most: 1 });
