import { version3Set } from '../../support/stored/sets.ts';
import { testStoredSet } from './suite.ts';

testStoredSet(version3Set);
