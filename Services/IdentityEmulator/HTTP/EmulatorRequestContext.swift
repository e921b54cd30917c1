import Base
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Hummingbird's request context, with the connection, which a fault may close.
struct EmulatorRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// A request to the emulator's own pages and control that is refused: `{"error":"…"}`.
struct Refusal: Error, HTTPResponseError {
    let status: HTTPResponse.Status
    let problem: String

    init(_ status: HTTPResponse.Status, _ problem: String) {
        self.status = status
        self.problem = problem
    }

    func response(from request: Request, context: some RequestContext) -> Response {
        Response(status, ["error": .string(problem)])
    }
}

/// Answers a request whose outcome cannot be stored, such as on a full disk.
struct StorageFailures: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext, next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let failure as DurableFileFailure {
            context.logger.error("a request could not be served", metadata: ["error": "\(failure)"])
            throw Refusal(.serviceUnavailable, "\(failure)")
        }
    }
}

extension Response {
    /// A response whose body is a JSON document.
    init(_ status: HTTPResponse.Status = .ok, _ document: JSONValue, headers: HTTPFields = [:]) {
        var headers = headers
        headers[.contentType] = "application/json; charset=utf-8"
        self.init(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: document.utf8)))
    }
}

extension Request {
    /// More than any body that the emulator takes.
    private static let maxBodyBytes = 16_384

    /// The whole body.
    ///
    /// - Throws: ``Refusal`` with 413 if it is too long.
    func wholeBody() async throws -> Data {
        do {
            return Data(try await body.collect(upTo: Self.maxBodyBytes).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw Refusal(.contentTooLarge, "the body has more than \(Self.maxBodyBytes) bytes")
        }
    }

    /// The body as a document that has no other fields than those of its type.
    ///
    /// - Throws: ``Refusal`` with 400.
    func document<Document: Decodable>(_ type: Document.Type) async throws -> Document {
        do {
            return try JSONCoder.decodeStrictly(type, from: try await wholeBody())
        } catch let violation as SchemaViolation {
            throw Refusal(.badRequest, violation.description)
        }
    }
}
