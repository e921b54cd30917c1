public import FoundationEssentials
import Base
import Schemas

/// Broadcasts that ship with the app, and show once, some hours after its installation (seed 004, `relativetime`).
public struct LocalBroadcasts: Sendable {
    let all: [BroadcastDraft]
    /// The language of phones for which there are no texts.
    let language: String

    /// An app without any.
    public static let none = LocalBroadcasts(all: [], language: "en")

    private init(all: [BroadcastDraft], language: String) {
        self.all = all
        self.language = language
    }

    /// - Parameters:
    ///   - json: An array of broadcasts in any form of the seeds, each with an `id` and hours after the installation.
    ///   - language: The default language, in which each must have texts.
    /// - Throws: `SchemaViolation`, which names the place.
    public init(json: Data, language: String = "en") throws {
        let elements: [JSONValue] = try JSONCoder.decode(from: json)
        var all: [BroadcastDraft] = []
        for (position, element) in elements.enumerated() {
            do throws(SchemaViolation) {
                let draft = try BroadcastDraft(anyForm: element.data)
                try draft.checkForShipping(language: language)
                guard !all.contains(where: { $0.id == draft.id }) else {
                    throw SchemaViolation(field: "id", problem: "there twice")
                }
                all.append(draft)
            } catch {
                throw SchemaViolation(field: "[\(position)].\(error.field)", problem: error.problem)
            }
        }
        self.init(all: all, language: language)
    }
}
