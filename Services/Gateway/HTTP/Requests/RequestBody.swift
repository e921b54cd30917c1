import FoundationEssentials
import HTTPTypes
import Hummingbird
import Base
import NIOCore
import Schemas

/// The JSON in a request's body.
enum RequestBody {
    /// The maximum size of a body: many times that of the largest document.
    static let maxBytes = 64 * 1_024

    /// Reads the body as JSON, regardless of its content type.
    ///
    /// - Throws: ``SchemaViolation``, or `NIOTooManyBytesError`.
    static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from request: Request) async throws -> Value {
        guard let value = try await decodeUnlessEmpty(type, from: request) else {
            throw SchemaViolation(field: "", problem: "expected a JSON object, found an empty body")
        }
        return value
    }

    /// As ``decode(_:from:)``, for a body that may be empty.
    ///
    /// - Returns: `nil` if it is.
    static func decodeUnlessEmpty<Value: Decodable>(
        _ type: Value.Type = Value.self, from request: Request
    ) async throws -> Value? {
        let bytes = try await bytes(of: request)
        return bytes.isEmpty ? nil : try JSONCoder.decodeStrictly(type, from: bytes)
    }

    /// Reads the body, which may be empty.
    ///
    /// - Throws: ``SchemaViolation``, or `NIOTooManyBytesError`.
    static func bytes(of request: Request) async throws -> Data {
        Data(try await collect(from: request).readableBytesView)
    }

    /// Waits for the whole body.
    ///
    /// - Throws: ``Problem`` if it is compressed; ``SchemaViolation``, or `NIOTooManyBytesError`.
    static func collect(from request: Request) async throws -> ByteBuffer {
        if let coding = request.headers.value(of: .contentEncoding), coding.lowercased() != "identity" {
            throw Problem(
                .unsupportedMediaType, "Content-Encoding: expected a body that is not compressed, found \(coding.prefix(40))",
                field: "Content-Encoding", headers: [.acceptEncoding: "identity"])
        }
        // A body that is announced as too large is refused unread.
        if let length = request.headers.value(of: .contentLength).flatMap({ Int($0) }), length > maxBytes {
            throw NIOTooManyBytesError(maxBytes: maxBytes)
        }
        do {
            return try await request.body.collect(upTo: maxBytes)
        } catch let error as NIOTooManyBytesError {
            throw error
        } catch {
            // The client has disconnected, or its chunked encoding is invalid. It is not an error of the gateway.
            throw SchemaViolation(field: "", problem: "the body is incomplete, or its framing is not valid HTTP")
        }
    }
}
