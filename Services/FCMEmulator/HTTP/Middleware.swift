import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import Schemas

/// Turns every error that a route throws into a JSON answer, so that no request ends without one.
struct ErrorMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as GoogleError {
            return Response(error)
        } catch let error as HTTPParserError {
            throw error
        } catch let error as HTTPError {
            return Response(
                GoogleError(
                    httpStatus: error.status, status: error.status == .notFound ? "NOT_FOUND" : "INVALID_ARGUMENT",
                    message: error.body ?? "\(request.method.rawValue) \(request.uri.path.prefix(200)) is not served here."))
        } catch let failure as CommandFailure where failure.status == .unavailable {
            context.logger.error("a request could not be served", metadata: ["error": "\(failure)"])
            return Response(
                GoogleError(
                    httpStatus: .serviceUnavailable, status: "UNAVAILABLE", message: "The service is currently unavailable."))
        } catch is CancellationError {
            // The client has gone, or the emulator stops. The stream is reset, so that the client does not mistake
            // this for an answer.
            await Exchange.current?.resetStream(.cancel)
            return .unanswerable
        } catch  where Self.isClientsFault(error) {
            context.logger.debug("a client has broken off its request, or the protocol", metadata: ["error": "\(error)"])
            await Exchange.current?.resetStream(.cancel)
            return .unanswerable
        } catch {
            context.logger.error("a request failed", metadata: ["error": "\(error)"])
            return Response(
                GoogleError(httpStatus: .internalServerError, status: "INTERNAL", message: "Internal error encountered."))
        }
    }

    /// Whether reading a request has failed because of its client.
    static func isClientsFault(_ error: any Error) -> Bool {
        error is any NIOHTTP2Error || error is ChannelError || error is NIOSSLError || error is IOError
    }
}

/// Refuses a request without a valid `:authority` (`Host` in HTTP/1.1), as Google's front end does. Any host name is accepted,
/// since the emulator is reached under several.
struct AuthorityCheck: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, Self.isAuthority(authority), Self.agrees(request, authority) else {
            return FrontEndPage(.badRequest, "Your client has issued a malformed or illegal request.").response()
        }
        return try await next(request, context)
    }

    /// A host, in brackets if it is an IPv6 address, and an optional port (RFC 3986, without the deprecated user name).
    private static func isAuthority(_ text: String) -> Bool {
        var host = text[...]
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            guard UInt16(text[colon...].dropFirst()) != nil, text[text.index(after: colon)] != "+" else { return false }
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.count > 2 && host.dropFirst().dropLast().utf8.allSatisfy { isHexDigit($0) || ":.".utf8.contains($0) }
        }
        return !host.isEmpty && host.utf8.allSatisfy { isLetterOrDigit($0) || "-._".utf8.contains($0) }
    }

    /// Several `Host` fields, or one that differs from `:authority`, are ambiguous.
    private static func agrees(_ request: Request, _ authority: String) -> Bool {
        request.headers.allSatisfy { $0.name.canonicalName != "host" || $0.value == authority }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        Character(UnicodeScalar(byte)).isHexDigit
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// Removes the body of an answer to HEAD.
///
/// No path serves HEAD, so each answer is a refusal. In HTTP/1.1 a client would read its body as the next answer, and in HTTP/2 it is
/// an error of the protocol.
struct HeadAnswers: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// The HTML page that Google's front end answers with when the request does not reach FCM, or FCM does not answer.
struct FrontEndPage: Hashable, Sendable {
    private let status: HTTPResponse.Status
    private let problem: String

    init(_ status: HTTPResponse.Status, _ problem: String) {
        self.status = status
        self.problem = problem
    }

    func response(headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "text/html; charset=UTF-8"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    private var text: String {
        let kind = status.kind == .serverError ? "Server Error" : status.reasonPhrase
        return """
            <!DOCTYPE html>
            <html lang=en>
              <meta charset=utf-8>
              <title>Error \(status.code) (\(kind))!!1</title>
              <p><b>\(status.code).</b> <ins>That’s an error.</ins>
              <p>\(problem)  <ins>That’s all we know.</ins>

            """
    }
}
