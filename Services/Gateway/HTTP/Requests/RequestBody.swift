import FoundationEssentials
import Hummingbird
import JSON
import NIOCore
import Schemas

/// The JSON in a request's body.
enum RequestBody {
    /// Many times what the largest document takes.
    static let maxBytes = 64 * 1_024

    /// Reads the body as a document of the schemas, whatever its content type says: a portal means JSON.
    ///
    /// - Throws: ``SchemaViolation``, or `NIOTooManyBytesError`.
    static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from request: Request) async throws -> Value {
        // What is announced as too large need not be read to be refused.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > maxBytes {
            throw NIOTooManyBytesError(maxBytes: maxBytes)
        }
        let buffer: ByteBuffer
        do {
            buffer = try await request.body.collect(upTo: maxBytes)
        } catch let error as NIOTooManyBytesError {
            throw error
        } catch {
            // The client has hung up, or its chunks are none: nothing has gone wrong here.
            throw SchemaViolation(field: "", problem: "the body breaks off, or is not framed as HTTP asks")
        }
        guard buffer.readableBytes > 0 else {
            throw SchemaViolation(field: "", problem: "expected a JSON object, found an empty body")
        }
        return try JSONCoder.decodeStrictly(type, from: Data(buffer.readableBytesView))
    }
}

extension GatewayContext {
    /// An identifier in the path.
    func identifier(_ name: String) throws -> ObjectID {
        guard let text = parameters.get(name), let identifier = ObjectID(text) else {
            throw Problem(.invalidField, "\(name): expected 24 hexadecimal digits (an ObjectId)", field: name)
        }
        return identifier
    }
}
