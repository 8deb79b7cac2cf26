import type { DescMessage } from '@bufbuild/protobuf';
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
} from '../proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { AnyValueSchema } from '../proto/opentelemetry/proto/common/v1/common_pb.js';
import { ResourceSchema } from '../proto/opentelemetry/proto/resource/v1/resource_pb.js';
import { SpanSchema } from '../proto/opentelemetry/proto/trace/v1/trace_pb.js';

/**
 * Has strings that are not UTF-8 decoded with U+FFFD in the place of what is wrong. By proto3's
 * rule one cut-off attribute would cost the whole export.
 */
const tolerateBadUtf8 = ({ file }: DescMessage): void => {
  const visit = (message: DescMessage): void => {
    for (const field of message.fields) Object.assign(field, { utf8Validation: false });
    message.nestedMessages.forEach(visit);
  };
  file.messages.forEach(visit);
};

for (const schema of [SpanSchema, ResourceSchema, AnyValueSchema]) tolerateBadUtf8(schema);

export { type ExportTraceServiceRequest, ExportTraceServiceRequestSchema };

/**
 * How deep messages may nest. A list in a list takes two levels, a `kvlist` in a `kvlist` three, so
 * values nest less deep than a call's fields may.
 */
export const recursionLimit = 600;
