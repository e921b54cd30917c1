import HTTPRouting
import Hummingbird

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
