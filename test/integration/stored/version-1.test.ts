import { version1Set } from '../../support/stored/sets.ts';
import { testStoredSet } from './suite.ts';

testStoredSet(version1Set);
