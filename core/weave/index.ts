export * from './graphql.ts';
