// Signs a request as AWS wants it, Signature Version 4:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
import { createHash, createHmac } from 'node:crypto';
import type { HeaderFields } from '../../lib/upstream/contract/provider.ts';

interface Unsigned {
  readonly key: string;
  readonly region: string;
  readonly url: URL;
  readonly body: string;
  readonly now: number;
}

export function signRequest({ key, region, url, body, now }: Unsigned): HeaderFields {
  const [id = '', secret = ''] = key.split(':');
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = [time.slice(0, 8), region, 'bedrock', 'aws4_request'];
  const signed = Object.entries({ 'content-type': 'application/json', host: url.host, 'x-amz-date': time });
  const names = signed.map(([name]) => name).join(';');
  // The path is encoded once more than in the URL.
  const path = url.pathname.split('/').map(encodeURIComponent).join('/');
  const canonical = ['POST', path, '', ...signed.map((pair) => pair.join(':')), '', names, hash(body)].join('\n');
  const words = ['AWS4-HMAC-SHA256', time, scope.join('/'), hash(canonical)].join('\n');
  const signingKey = scope.reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${secret}`);
  const signature = hmac(signingKey, words).toString('hex');
  const credential = `AWS4-HMAC-SHA256 Credential=${id}/${scope.join('/')}`;
  return { 'x-amz-date': time, authorization: `${credential}, SignedHeaders=${names}, Signature=${signature}` };
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
