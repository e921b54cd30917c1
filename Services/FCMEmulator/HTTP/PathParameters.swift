import FoundationEssentials
import Hummingbird

extension EmulatorRequestContext {
    /// A part of the path, as its sender meant it: a token's colon and a topic's percent sign may come encoded.
    ///
    /// - Throws: ``GoogleError`` for one that is not encoded as a path is.
    func pathParameter(_ name: String) throws -> String {
        let raw = try parameters.require(name)
        let components = URLComponents(string: "/\(raw)", encodingInvalidCharacters: false)
        guard let text = components?.path.dropFirst(), !text.isEmpty else {
            throw GoogleError.invalidArgument("\"\(raw.prefix(100))\" in the path is not percent-encoded UTF-8")
        }
        return String(text)
    }
}
