import JSON
import TestSupport
import Testing

/// Cells that run in one stack at the same time, so that their waits overlap.
struct Scene: Hashable, Sendable, CustomTestStringConvertible {
    let name: String
    /// The emulator's initial settings, one member for each section.
    var behaviour: JSONValue = [:]
    /// Rules without a topic, for the token endpoint.
    var rules: [JSONValue] = []
    /// How many requests one fault may leave without an answer; `nil` if connections also end without a fault.
    var streams: Int? = 1
    let cells: [Cell]

    var testDescription: String { name }

    static let all = [answers, project, connections, crowd, limits, excess, credentials, refusedTokens]
}

/// A cell with one relay or two.
struct CellRun: Hashable, Sendable, CustomTestStringConvertible {
    let scene: Scene
    let cell: Cell

    static let all = Scene.all.flatMap { scene in scene.cells.map { CellRun(scene: scene, cell: $0) } }

    var testDescription: String { "\(scene.name): \(cell.testDescription)" }
}
