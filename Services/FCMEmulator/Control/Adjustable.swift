import JSON
import Synchronization

/// One part of the emulator's behaviour, described by a JSON document.
protocol ControlSection: Sendable {
    /// The fields that the document may have.
    static var form: MessageForm { get }

    /// - Parameter fields: The document, which has the form.
    /// - Throws: ``GoogleError`` where a value is out of range.
    init(_ fields: ControlFields) throws

    /// The settings in force, with counters where the section has any.
    var document: JSONValue { get }
}

/// A part of the emulator's behaviour that can be read and changed while it runs.
final class Adjustable<Section: ControlSection>: Sendable {
    private let original: Section
    private let section: Mutex<Section>

    /// - Parameter section: The initial settings.
    init(_ section: Section) {
        original = section
        self.section = Mutex(section)
    }

    func withLock<Result: Sendable>(_ body: (inout Section) throws -> Result) rethrows -> Result {
        try section.withLock { try body(&$0) }
    }

    var document: JSONValue { section.withLock(\.document) }

    /// Replaces the document in force.
    ///
    /// - Throws: ``GoogleError`` naming each invalid field. Then nothing has changed.
    func replace(by document: JSONValue) throws {
        let replacement = try Section(ControlFields(try FormReader.read(document, as: Section.form, repeats: .refused)))
        section.withLock { $0 = replacement }
    }

    /// Restores the initial settings.
    func reset() {
        section.withLock { $0 = original }
    }
}
