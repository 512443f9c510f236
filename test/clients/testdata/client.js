// Makes attempts with Node's http module, and prints a line for each answer.
'use strict';
const http = require('http');

const [host, port] = process.argv[2].split(':');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const sockets = new Set();

function ask(name, { body, chunks, method = 'POST', path = '/attempt', headers = {}, using = agent } = {}) {
  return new Promise((resolve, reject) => {
    const all = { 'X-Resource': 'a', ...headers };
    const req = http.request({ host, port, method, path, headers: all, agent: using }, (res) => {
      let text = '';
      res.on('data', (d) => { text += d; });
      res.on('end', () => {
        console.log(name, res.statusCode, res.headers['content-length'], JSON.stringify(text));
        resolve();
      });
    });
    req.on('socket', (s) => sockets.add(s));
    req.on('error', reject);
    if (all.Expect) {
      req.on('continue', () => { console.log(name, 'may go on'); req.end(body); });
      req.flushHeaders();
      return;
    }
    for (const c of chunks || []) req.write(c);
    req.end(body);
  });
}

async function main() {
  await ask('plain');
  await ask('body', { body: 'hello' });
  await ask('long body', { body: 'b'.repeat(65536) });
  await ask('chunks', { chunks: ['hel', 'lo'] });
  await ask('expect', { body: 'hello', headers: { Expect: '100-continue', 'Content-Length': 5 } });
  await ask('rejected', { headers: { 'X-Resource': 'rejected' } });
  await ask('repeated', { headers: { 'X-Prefix': ['p', 'q'] } });
  await ask('head', { method: 'HEAD' });
  await ask('put', { method: 'PUT', body: 'x' });
  await ask('health', { method: 'GET', path: '/healthz' });
  console.log('sockets', sockets.size);
  const many = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const log = console.log;
  let ok = 0;
  console.log = (name, status) => { if (status === 200) ok++; };
  await Promise.all(Array.from({ length: 400 }, () => ask('many', { using: many })));
  console.log = log;
  console.log('many', ok);
  agent.destroy();
  many.destroy();
}

main().catch((err) => { console.error(err); process.exit(1); });
