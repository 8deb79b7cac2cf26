/** What the fields of requests mean that Weave's dialect alone has, by their names. */
export const weaveTexts: Readonly<Record<string, string>> = {
  query: 'An expression, ANDed with the filter; null for none. Of `/graphql`: the GraphQL text.',
  variables: 'The variables of the query.',
  operationName: 'The operation of the query that is meant.',
  entity: 'The entity of the project.',
  project: "The project's name without its entity.",
  include_usernames: 'Adds the name of the user, `wb_username`.',
};
