// URLs that must not be fetched, each with the reason given by its text.
import type { UrlRefusal } from '../../lib/media/url.ts';

const NOT_PUBLIC_IPV4 = `
  0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.0.1.1
  127.255.255.254 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.17.0.1 172.31.255.255 192.0.0.1 192.0.0.8
  192.0.0.170 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.255.255 192.175.48.1
  198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.254 255.255.255.255
  168.63.129.16
`;

const NOT_PUBLIC_IPV6 = `
  :: ::1 ::2 ::127.0.0.1 ::7f00:1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::FFFF:10.0.0.1 ::ffff:a9fe:a9fe ::ffff:8.8.8.8
  0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001 0:0:0:0:0:ffff:7f00:1 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8
  64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 64:ff9b:1::a00:1 100::1 100:0:0:1::1
  2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1
  2001:30::1 2001:1ff:ffff::1 2001:db8::1 2001:DB8:1::1 2002::1 2002:7f00:1:: 2002:a00:1::1 2002:808:808::1 2620:4f:8000::1
  3ffe::1 3fff::1 3fff:fff::1 4000::1 5f00::1 8000::1 e000::1 fc00::1 fd00::1 fd00:ec2::254 fdff:ffff::1 fe00::1 fe80::1
  fe80::7f00:1 febf::1 fec0::1 feff::1 ff00::1 ff02::1 ff05::2 ff0e::1 1fff:ffff::1
`;

const NOT_PUBLIC_NAMES = `
  localhost LOCALHOST LocalHost foo.localhost localhost.localdomain a.b.localhost printer.local nas.LOCAL db.internal
  metadata.google.internal instance-data.ec2.internal metadata metadata.internal kubernetes router fritz.lan nas.home
  router.home.arpa 1.0.0.127.in-addr.arpa intranet wiki.intranet git.corp vault.private host.docker.internal x.onion y.alt
  a.test b.example c.invalid redis mongo com ru xn--p1ai
`;

const MISSPELT_HOSTS = `
  2130706433 0x7f000001 0X7F000001 017700000001 0x7f.1 0x7f.0.0.1 0177.0.0.1 0177.1 127.1 127.0.1 127.0.0.01 127.0.0.001 127.0.0.0x1
  10.1 0 0x0 00 0x 1 1.1 134744072 0x08080808 010.010.010.010 8.8 8.8.2056 3232235521 192.168.257 0300.0250.0.1
  4294967295 4294967296 99999999999 256.256.256.256 8.8.8.256 1.2.3.4.5 1.2.3 0x7f000001. 127.0.0.1. 127.0.0.1..
  8.8.8.8. localhost. example.com. .example.com example..com . .. a..b -.com -a.com a-.com a.-b.com
  ex%61mple.com 127%2e0%2e0%2e1 %31%32%37.0.0.1 example.com%00.evil.org example.com%2f.evil.org localhost%00 %6c%6f%63%61%6c%68%6f%73%74
  １２７.0.0.1 127。0。0。1 ①②⑦.⓪.⓪.① ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ｌｏｃａｌｈｏｓｔ exa𝗆ple.com пример.рф bücher.de faß.de exampl℮.com
  xn-- xn--a-.com xn--é.com
  [::1%25eth0] [fe80::1%25lo] [fe80::1%eth0] [::1%251] [v1.fe80::1] [1.2.3.4] [] [:] [:::] [::1::] [1:2:3:4:5:6:7:8:9] [::ffff:256.0.0.1]
  [::1 ::1] ::1 2606:4700::1 [[::1]] [::1]x x[::1] [localhost]
  a!b.com a$b.com a&b.com a'b.com a(b).com a*b.com a+b.com a,b.com a;b.com a=b.com a~b.com a"b.com a<b>.com a\`b.com a{b}.com a|b.com a^b.com
`;

const SCHEMES = `
  http://example.com/ HTTP://example.com/ http://127.0.0.1/ http://localhost/ ftp://example.com/ file:///etc/passwd file://localhost/etc/passwd
  gopher://127.0.0.1:6379/_INFO dict://127.0.0.1:11211/stats ldap://127.0.0.1/ javascript:alert(1) blob:https://example.com/1
  about:blank ws://example.com/ wss://example.com/ view-source:https://example.com/ jar:https://example.com/!/ unix:/var/run/docker.sock
  unix:///var/run/docker.sock //example.com/x.png /x.png x.png example.com example.com:443 https https: https:/ https:example.com
  https:/example.com/ httpss://example.com/ ttps://example.com/ s3://bucket/key data:image/png;base64,AAAA phar://x
  ://example.com h%74tps://example.com/ https%3A%2F%2Fexample.com
`;

const PORTS = `
  :80 :8443 :22 :0 :1 :444 :4430 :65535 :25 :6379 :27017 :9200 :2375
`;

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** With characters that a list of words cannot hold. */
const FORBIDDEN_CHARACTERS: readonly string[] = [
  ' https://example.com/',
  'https://example.com/ ',
  'https://example.com/a b.png',
  'https:// example.com/',
  'https://exam ple.com/',
  'https://example.com\t/',
  'https://exam\tple.com/',
  'ht\ntps://example.com/',
  'https://127.0.\n0.1/',
  'https://example.com/\r\nhost: localhost',
  'https://example.com/\r\n\r\nGET / HTTP/1.1',
  'https://example.com/\0',
  'https://example.com\0.evil.org/',
  'https://example.com/\x7f',
  'https://example.com/\x85',
  'https://example.com/\xa0',
  'https://example.com/\u2028x',
  'https://example.com/\ufeff',
  'https://loc\u00adalhost/',
  'https://exam\u200bple.com/',
  'https://example.com/\u202egnp.x',
  'https://example.com/\ud800',
  'https:\\\\example.com\\x.png',
  'https:/\\example.com/',
  'https://example.com\\@127.0.0.1/',
  'https://127.0.0.1\\.example.com/',
  'https://example.com/..\\..\\x',
];

const CREDENTIALS: readonly string[] = [
  'https://user@example.com/',
  'https://user:password@example.com/',
  'https://:@example.com/',
  'https://@example.com/',
  'https://example.com@127.0.0.1/',
  'https://example.com:443@127.0.0.1/',
  'https://127.0.0.1@example.com/',
  'https://a@b@example.com/',
  'https://example.com%40evil.org@127.0.0.1/',
  'https://user@[::1]/',
];

const LENGTHS: readonly string[] = [
  `https://example.com/${'a'.repeat(2029)}`,
  `https://${'a.'.repeat(2_000_000)}com/`,
  `https://example.com/${'%'.repeat(5_000_000)}`,
  `https://${'['.repeat(4_000_000)}`,
];

const LONG_TEXTS: readonly string[] = ['@'.repeat(5_000_000), ' '.repeat(5_000_000)];

const LONG_HOSTS: readonly string[] = [
  `https://${'a'.repeat(64)}.com/`,
  `https://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(58)}.com/`,
  `https://${'a.'.repeat(1000)}com/`,
  `https://${'1'.repeat(2000)}/`,
  `https://xn--${'9'.repeat(2000)}.com/`,
];

export const HOSTILE_URLS: readonly (readonly [url: string, refusal: UrlRefusal])[] = [
  ...words(NOT_PUBLIC_IPV4).map((host) => [`https://${host}/x.png`, 'not-public'] as const),
  ...words(NOT_PUBLIC_IPV6).map((host) => [`https://[${host}]/x.png`, 'not-public'] as const),
  ...words(NOT_PUBLIC_NAMES).map((host) => [`https://${host}/x.png`, 'not-public'] as const),
  ...words(MISSPELT_HOSTS).map((host) => [`https://${host}/x.png`, 'host'] as const),
  ...words(SCHEMES).map((url) => [url, 'scheme'] as const),
  ...words(PORTS).map((port) => [`https://example.com${port}/x.png`, 'port'] as const),
  ...FORBIDDEN_CHARACTERS.map((url) => [url, 'characters'] as const),
  ...CREDENTIALS.map((url) => [url, 'credentials'] as const),
  ...LENGTHS.map((url) => [url, 'length'] as const),
  ...LONG_TEXTS.map((url) => [url, 'scheme'] as const),
  ...LONG_HOSTS.map((url) => [url, 'host'] as const),
];
