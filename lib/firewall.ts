import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
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
  sampledRequestsEnabled: true,
  cloudWatchMetricsEnabled: true,
  metricName,
});

/**
 * A web ACL of AWS WAF that limits each IP address, before authorizer and throttle see its
 * requests. It has no rule on bodies: those of traces look like attacks to such rules.
 */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, { rate, stage }: FirewallProps) {
    super(scope, id);
    const webAcl = new CfnWebACL(this, 'WebAcl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: measured('all'),
      customResponseBodies: {
        refusal: { contentType: 'APPLICATION_JSON', content: `${JSON.stringify(refusal)}\n` },
      },
      rules: [
        {
          name: 'rate-per-address',
          priority: 0,
          statement: {
            rateBasedStatement: {
              aggregateKeyType: 'IP',
              limit: rate,
              evaluationWindowSec: windowSeconds,
            },
          },
          action: {
            block: {
              customResponse: {
                responseCode: 429,
                customResponseBodyKey: 'refusal',
                responseHeaders: [
                  { name: 'Retry-After', value: '60' },
                  { name: 'X-Content-Type-Options', value: 'nosniff' },
                ],
              },
            },
          },
          visibilityConfig: measured('rate-per-address'),
        },
      ],
    });
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: stage.stageArn,
      webAclArn: webAcl.attrArn,
    });
  }
}
