import FoundationEssentials
import HTTPTypes
import Hummingbird

/// The body of a route that reads bytes of certain types instead of JSON, such as a picture.
///
/// It may be larger than a body of JSON. Its size has to be announced, and only a route that requires a credential may have one:
/// ``LargeBodies`` limits how many there are at a time.
protocol RawBody: Decodable, Sendable {
    /// The values of `Content-Type`, without parameters.
    static var mediaTypes: [String] { get }
    /// The maximum size in bytes.
    static var maxBytes: Int { get }
}

extension RawBody {
    /// Checks the head of a request.
    ///
    /// - Returns: The announced size of the body in bytes.
    /// - Throws: ``Problem`` (415) for another type; a request without a type may have any.
    fileprivate static func announcedSize(in request: Request) throws(Problem) -> Int {
        let types = mediaTypes.joined(separator: ", ")
        if let given = request.headers[.contentType] {
            let type = given.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
            guard mediaTypes.contains(type) else {
                throw Problem(
                    .unsupportedMediaType, "Content-Type: expected one of \(types), found \(given.prefix(100))",
                    field: "Content-Type", headers: [.accept: types])
            }
        }
        guard let size = request.headers.value(of: .contentLength).flatMap({ Int($0) }) else {
            throw Problem(
                .invalidField, "Content-Length: expected the size of the body in bytes, found none", field: "Content-Length")
        }
        return size
    }
}

extension Route {
    /// The maximum size of its body in bytes.
    var maxBodyBytes: Int { (body as? any RawBody.Type)?.maxBytes ?? RequestBody.maxBytes }

    /// Whether a request announces a larger body than any of JSON.
    ///
    /// - Throws: ``Problem`` if its head cannot be that of a ``RawBody``.
    func isLarge(_ request: Request) throws(Problem) -> Bool {
        guard let body = body as? any RawBody.Type else { return false }
        return try body.announcedSize(in: request) > RequestBody.maxBytes
    }
}

extension RouteCall where Body: RawBody {
    /// Reads the bytes. Call it once, after the checks that need no body.
    ///
    /// - Parameter field: The name of the bytes for errors.
    /// - Throws: ``Problem`` if there are none; `NIOTooManyBytesError`.
    func bytes(as field: String) async throws -> Data {
        let bytes = try await RequestBody.bytes(of: request, upTo: Body.maxBytes)
        guard !bytes.isEmpty else { throw Problem(.invalidField, "\(field): expected bytes, found an empty body", field: field) }
        return bytes
    }
}
