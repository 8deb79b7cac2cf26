import { isKeyed } from '../../api/endpoint.ts';
import { routesOf } from '../../weave/api/routes.ts';
import { sample } from '../support/sampling.ts';
import { describeKills, useKiller } from './kills.ts';

const killer = useKiller({ dialect: 'weave' });
const writing = routesOf('weave')
  .filter(isKeyed)
  .filter(({ role, dialect }) => role === 'write' && dialect === 'weave')
  .map(({ path }) => path);
describeKills(killer, sample(writing, 4, 'kills'), { dialect: 'weave', most: 1 });
