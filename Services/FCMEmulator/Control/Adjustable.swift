import Synchronization

/// One part of how the emulator behaves, as a JSON document says it.
protocol ControlSection: Sendable {
    /// What the document may hold.
    static var form: MessageForm { get }

    /// - Parameter fields: The document, which has the form.
    /// - Throws: ``GoogleError`` where a value is out of range.
    init(_ fields: ControlFields) throws

    /// What is in force, and what has come of it.
    var document: JSONValue { get }
}

/// A part of the emulator's behaviour that can be looked at and changed while it runs.
final class Adjustable<Section: ControlSection>: Sendable {
    private let original: Section
    private let section: Mutex<Section>

    /// - Parameter section: What it is at the start.
    init(_ section: Section) {
        original = section
        self.section = Mutex(section)
    }

    func withLock<Result: Sendable>(_ body: (inout Section) throws -> Result) rethrows -> Result {
        try section.withLock { try body(&$0) }
    }

    var document: JSONValue { section.withLock(\.document) }

    /// Puts another document in the place of the one in force.
    ///
    /// - Throws: ``GoogleError`` naming each field that is wrong; then nothing has changed.
    func replace(by document: JSONValue) throws {
        let replacement = try Section(ControlFields(try FormReader.read(document, as: Section.form, repeats: .refused)))
        section.withLock { $0 = replacement }
    }

    /// Goes back to what it was at the start.
    func reset() {
        section.withLock { $0 = original }
    }
}
