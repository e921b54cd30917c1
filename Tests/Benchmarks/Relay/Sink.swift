import FoundationEssentials
import TestSupport

/// A server that reads every send over TLS and does nothing with it: nghttpd, or nginx if nghttpd lacks a feature.
struct Sink {
    /// When it answers.
    enum Speed {
        /// At once, over HTTP/2 only.
        case immediate
        /// At once, over HTTP/2 and HTTP/1.1, which the Admin SDK for Python uses.
        case immediateForAll
        /// 50 milliseconds after it has read a request.
        case delayed
    }

    let port: Int
    /// The certificate to trust.
    let certificateFile: String
    /// The server's process.
    let identifier: Int32
    private let server: ChildProcess

    private static let tokenAnswer =
        #"{"access_token":"\#(RelayedMessage.accessToken)","expires_in":3599,"token_type":"Bearer"}"#

    /// Starts it, and waits until it accepts connections.
    ///
    /// - Parameter folder: The folder for its files.
    init(_ speed: Speed, in folder: String) async throws {
        port = try FreePort.choose()
        certificateFile = folder + "/certificate.pem"
        let keyFile = folder + "/key.pem"
        try TestCertificate().write(certificateFile: certificateFile, keyFile: keyFile)
        let command =
            switch speed {
            case .immediate: try Self.immediate(port, certificateFile, keyFile, in: folder)
            case .immediateForAll: try Self.nginx(port, certificateFile, keyFile, pause: "", in: folder)
            case .delayed: try Self.nginx(port, certificateFile, keyFile, pause: "echo_sleep 0.05;", in: folder)
            }
        // The shell ends with its standard input, that is, with this process. The shell kills the server by SIGKILL, because the
        // thread that starts it has blocked other signals. It writes the server's process into a file.
        let processFile = folder + "/sink.pid"
        server = try await ChildProcess(
            URL(filePath: "/bin/sh"),
            ["-c", #"setpriv --pdeathsig KILL "$@" & echo "$!" >"$0"; read -r _"#, processFile] + command,
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], logFile: folder + "/sink.log")
        do {
            identifier = try await Self.waitUntilReady(server, port: port, processFile: processFile)
        } catch {
            await server.kill()
            throw PeerFailure(description: "\(command[0]) takes no connections: \(error) \(server.log)")
        }
    }

    /// Waits until the server accepts connections.
    ///
    /// - Returns: Its process.
    private static func waitUntilReady(_ shell: ChildProcess, port: Int, processFile: String) async throws -> Int32 {
        try await eventually("the sink listens", within: .seconds(10)) {
            guard shell.isRunning else { throw PeerFailure(description: "It has ended.") }
            guard try Connections.isListening(on: port) else { return nil }
            return (try? String(contentsOfFile: processFile, encoding: .utf8)).flatMap { Int32($0.prefix { $0.isNumber }) }
        }
    }

    var url: String { "https://127.0.0.1:\(port)" }

    func stop() async {
        await server.kill()
    }

    /// A file for each path. The request's body is read before the answer.
    private static func immediate(
        _ port: Int, _ certificateFile: String, _ keyFile: String, in folder: String
    ) throws -> [String] {
        let root = URL(filePath: folder + "/root")
        let send = root.appending(path: RelayedMessage.path)
        try FileManager.default.createDirectory(at: send.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(RelayedMessage.answer.utf8).write(to: send)
        try Data(tokenAnswer.utf8).write(to: root.appending(path: "token"))
        return [
            "nghttpd", "--htdocs", root.path(percentEncoded: false), "--address", "127.0.0.1",
            "--max-concurrent-streams", "100", "\(port)", keyFile, certificateFile,
        ]
    }

    /// - Parameter pause: The directive that delays the answer.
    private static func nginx(
        _ port: Int, _ certificateFile: String, _ keyFile: String, pause: String, in folder: String
    ) throws -> [String] {
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let configuration = """
            load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
            daemon off;
            master_process off;
            pid \(folder)/nginx.pid;
            error_log stderr warn;
            events { worker_connections 1024; }
            http {
                \(places.joined(separator: " "))
                access_log off;
                default_type application/json;
                keepalive_requests 1000000000;
                keepalive_time 1d;
                keepalive_timeout 1d;
                http2_max_concurrent_streams 100;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate \(certificateFile);
                    ssl_certificate_key \(keyFile);
                    location = /token { echo_read_request_body; echo '\(tokenAnswer)'; }
                    location = \(RelayedMessage.path) {
                        echo_read_request_body;
                        \(pause)
                        echo '\(RelayedMessage.answer)';
                    }
                }
            }
            """
        let file = folder + "/nginx.conf"
        try Data(configuration.utf8).write(to: URL(filePath: file))
        return ["nginx", "-e", "stderr", "-c", file]
    }
}
