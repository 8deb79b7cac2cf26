import { listsSet } from '../../support/stored/sets.ts';
import { testStoredSet } from './suite.ts';

testStoredSet(listsSet);
