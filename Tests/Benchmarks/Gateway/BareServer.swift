import ArgumentParser
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Base
import Logging
import NIOCore
import TestSupport

/// A bare Hummingbird server, the peer of the gateway: its routes answer with the bytes of a file, and with the header fields of the
/// gateway's answer. One of them reads a body first.
struct BareServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "http-server", shouldDisplay: false)

    private static let maxBodyBytes = 64 << 10

    @Argument(help: "The file with the answer's body.")
    var body: String

    @Argument(help: "A file with the answer's header fields, as a JSON object. A request with their ETag is answered with 304.")
    var fields: String

    func run() async throws {
        let bytes = ByteBuffer(bytes: try Data(contentsOf: URL(filePath: body)))
        let fields = try Self.headerFields(Data(contentsOf: URL(filePath: fields)))
        var unchanged = fields
        unchanged[.contentType] = nil
        let (tag, fieldsOfUnchanged) = (fields[.eTag], unchanged)
        let router = Router()
        for path in ["/channel", "/broadcast/active"] as [RouterPath] {
            router.get(path) { request, _ -> Response in
                guard request.headers[.ifNoneMatch] != tag else {
                    return Response(status: .notModified, headers: fieldsOfUnchanged)
                }
                return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: bytes))
            }
        }
        router.post("/message/since") { request, _ -> Response in
            _ = try await request.body.collect(upTo: Self.maxBodyBytes)
            return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: bytes))
        }
        var logger = Logger(label: "benchmark")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: nil, backlog: 1_024),
            onServerRunning: { say("\($0.localAddress?.port ?? 0)") }, logger: logger)
        try await application.runService()
    }

    /// The fields that a route sets. Hummingbird adds the others by itself.
    private static func headerFields(_ document: Data) throws -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in try JSONCoder.decode([String: String].self, from: document) {
            guard let name = HTTPField.Name(name), name != .date, name != .contentLength else { continue }
            fields[name] = value
        }
        return fields
    }

    /// Runs a body while another process of this program gives an answer of the gateway.
    ///
    /// - Parameters:
    ///   - folder: The folder of its files and its log.
    ///   - measure: Gets the port.
    static func serving<Value>(
        _ answer: HTTPAnswer, in folder: String, _ measure: (Int) async throws -> Value
    ) async throws -> Value {
        let (body, fields) = (folder + "/answer.json", folder + "/answer-fields.json")
        try answer.body.write(to: URL(filePath: body))
        try JSONCoder.encode(Dictionary(answer.headers.map { ($0.name, $0.value) }) { $1 }).write(to: URL(filePath: fields))
        let process = try await ChildProcess(
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath(), ["http-server", body, fields],
            environment: ProcessInfo.processInfo.environment, logFile: folder + "/http-server.log")
        do {
            let port = try await process.waitForLog { $0.split(separator: "\n").first.flatMap { Int($0) } }
            let value = try await measure(port)
            await process.stop()
            return value
        } catch {
            await process.kill()
            throw error
        }
    }
}
