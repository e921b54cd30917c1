import HTTPRouting
import HTTPTypes
import Hummingbird
import Base
import NIOCore

/// Hummingbird's request context, with the event loop of the connection for timers.
struct EmulatorRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let eventLoop: any EventLoop

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        eventLoop = source.channel.eventLoop
    }
}

extension RouterMethods where Context == EmulatorRequestContext {
    typealias Handler = @Sendable (Request, EmulatorRequestContext) async throws -> Response

    /// Adds a path with its methods.
    func resource(_ path: RouterPath, _ handlers: [HTTPRequest.Method: Handler]) {
        self.path(path, handlers, policy: .emulator)
    }
}

extension MethodPolicy {
    /// HEAD and OPTIONS are methods like any other, and no path has them.
    fileprivate static let emulator = MethodPolicy(
        known: [.get, .head, .post, .put, .patch, .delete, .options], answersHeadAndOptions: false
    ) { method, allow in
        GoogleError(
            httpStatus: .methodNotAllowed, status: "UNIMPLEMENTED",
            message: "\(method.rawValue) is not served here, but \(allow).", headers: [.allow: allow])
    }
}

extension EmulatorRequestContext {
    /// A part of the path, percent-decoded: a token's colon or a topic's percent sign may be encoded.
    ///
    /// - Throws: ``GoogleError`` for invalid percent-encoding.
    func pathParameter(_ name: String) throws -> String {
        let raw = try parameters.require(name)
        guard let text = raw.percentDecoded, !text.isEmpty else {
            throw GoogleError.invalidArgument("\"\(raw.prefix(100))\" in the path is not percent-encoded UTF-8")
        }
        return text
    }
}

extension Request {
    /// A query parameter in either of Google's spellings. If it is repeated, the last one counts, as at FCM.
    func query(_ camelCase: String, or snakeCase: String) -> String? {
        queryParameters.all.last { $0.name == camelCase || $0.name == snakeCase }?.value
    }
}

/// The project in a path. Google accepts its id and its number.
struct ProjectPath: Sendable {
    let id: String
    let number: String

    /// - Throws: ``GoogleError`` for another project.
    func check(_ sent: String) throws {
        guard sent == id || sent == number else { throw GoogleError.permissionDenied(project: sent) }
    }
}

extension Response {
    /// A response whose body is a JSON document.
    init(_ status: HTTPResponse.Status = .ok, _ document: JSONValue, headers: HTTPFields = [:]) {
        var headers = headers
        headers[.contentType] = "application/json; charset=UTF-8"
        self.init(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: document.utf8)))
    }

    init(_ error: GoogleError) {
        self.init(error.httpStatus, error.document, headers: error.headers)
    }
}

extension Request {
    /// The whole body.
    ///
    /// - Parameter refusal: The error for a body that is too long; 413 if it is `nil`.
    /// - Throws: That error.
    func bytes(max: Int, orElse refusal: GoogleError? = nil) async throws -> [UInt8] {
        do {
            return Array(buffer: try await body.collect(upTo: max))
        } catch is NIOTooManyBytesError {
            throw refusal ?? .tooLarge(max)
        }
    }
}
