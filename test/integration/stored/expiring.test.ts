import { expiringSet } from '../../support/stored/sets.ts';
import { testStoredSet } from './suite.ts';

testStoredSet(expiringSet);
