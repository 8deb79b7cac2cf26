import { CfnResource } from 'aws-cdk-lib';
import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { errorForAll } from '../core/doors/inference/error.ts';

interface FirewallProps {
  /** The most requests of one IP address in five minutes. */
  readonly rate: number;
  readonly stage: Stage;
}

const windowSeconds = 300;

const refusal = errorForAll(429, {
  loc: [],
  msg: 'too many requests from this address; send the same request later',
  type: 'throttled',
});

const measured = (metricName: string) => ({
  SampledRequestsEnabled: true,
  CloudWatchMetricsEnabled: true,
  MetricName: metricName,
});

/**
 * A web ACL of AWS WAF that limits each IP address, before authorizer and throttle see its
 * requests. It has no rule on bodies: those of traces look like attacks to such rules. The
 * resources are written out, because importing CDK's types of them would slow every synthesis down.
 */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, { rate, stage }: FirewallProps) {
    super(scope, id);
    const webAcl = new CfnResource(this, 'WebAcl', {
      type: 'AWS::WAFv2::WebACL',
      properties: {
        Scope: 'REGIONAL',
        DefaultAction: { Allow: {} },
        VisibilityConfig: measured('all'),
        CustomResponseBodies: {
          refusal: { ContentType: 'APPLICATION_JSON', Content: `${JSON.stringify(refusal)}\n` },
        },
        Rules: [
          {
            Name: 'rate-per-address',
            Priority: 0,
            Statement: {
              RateBasedStatement: {
                AggregateKeyType: 'IP',
                Limit: rate,
                EvaluationWindowSec: windowSeconds,
              },
            },
            Action: {
              Block: {
                CustomResponse: {
                  ResponseCode: 429,
                  CustomResponseBodyKey: 'refusal',
                  ResponseHeaders: [
                    { Name: 'Retry-After', Value: '60' },
                    { Name: 'X-Content-Type-Options', Value: 'nosniff' },
                  ],
                },
              },
            },
            VisibilityConfig: measured('rate-per-address'),
          },
        ],
      },
    });
    new CfnResource(this, 'Association', {
      type: 'AWS::WAFv2::WebACLAssociation',
      properties: { ResourceArn: stage.stageArn, WebACLArn: webAcl.getAtt('Arn') },
    });
  }
}
