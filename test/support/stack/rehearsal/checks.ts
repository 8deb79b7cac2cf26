/**
 * What checks the resources of a type in the rehearsal, besides their schema. README.md has
 * the same as a table.
 */
export const checks: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::Authorizer': 'the local gateway asks it',
  'AWS::ApiGateway::Deployment': 'it comes after every method',
  'AWS::ApiGateway::GatewayResponse': 'the local gateway answers with it',
  'AWS::ApiGateway::Method': 'the local gateway serves it',
  'AWS::ApiGateway::Resource': 'the local gateway serves it',
  'AWS::ApiGateway::RestApi': 'the local gateway serves it',
  'AWS::ApiGateway::Stage': 'the local gateway serves it; it comes after the role for logs',
  'AWS::Athena::NamedQuery': 'DuckDB answers it from the files',
  'AWS::Athena::WorkGroup': 'it comes after its bucket, and before its queries',
  'AWS::DynamoDB::Table': 'made in the local store',
  'AWS::Glue::Database': 'made in DuckDB',
  'AWS::Glue::Table': 'made in DuckDB, as a table of the files or as the view of it',
  'AWS::IAM::Role': 'a guard before the stores enforces it',
  'AWS::Lambda::EventSourceMapping': 'the local poller brings records as it says',
  'AWS::Lambda::Function': 'the local runtime runs its bundle',
  'AWS::Lambda::Permission': 'each authorizer has one for its function',
  'AWS::S3::Bucket': 'made on fauxqs',
  'AWS::SNS::Topic': 'made on fauxqs',
  'AWS::SQS::Queue': 'made on fauxqs',
  'AWS::SecretsManager::Secret': 'made on a stand-in of the tests',
  'Custom::PennytraceKey': 'its function runs: made, changed and deleted',
};

/** What is said of a type that nothing here runs. */
const bySchema = 'its schema';

/**
 * The rows of the table in README.md beside this file.
 *
 * @param types of a template
 * @param withSchema those that AWS's validator knows
 */
export const toTable = (types: Iterable<string>, withSchema: ReadonlySet<string>): string[] =>
  [...new Set(types)].toSorted().map((type) => {
    const how = [...(checks[type] ? [checks[type]] : []), ...(withSchema.has(type) ? [bySchema] : [])];
    return `| \`${type}\` | ${how.join('; ')} |`;
  });
