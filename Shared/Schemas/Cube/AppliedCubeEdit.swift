import FoundationEssentials
import Base

/// An edit that the cube service has made: the command, and what the service has decided.
package struct AppliedCubeEdit: Sendable {
    package let command: any CubeEditing
    /// The id that the service gave to the added object; `nil` if the edit adds none.
    package let newID: ObjectID?

    package init(_ command: any CubeEditing, newID: ObjectID?) {
        self.command = command
        self.newID = newID
    }

    /// Makes the same edit in a copy of the cube.
    ///
    /// - Throws: ``CommandFailure`` if the copy is not that of the version before.
    package func apply(to channels: inout [Channel]) throws {
        _ = try command.apply(to: &channels, newID: newID ?? ObjectID())
    }

    /// All commands that edit the cube.
    private static let commands: [any CubeEditing.Type] = [
        AddChannel.self, UpdateChannel.self, DeleteChannel.self, AddArea.self, UpdateArea.self, DeleteArea.self, AddSubject.self,
        UpdateSubject.self, DeleteSubject.self, MoveSubject.self, SetAccess.self, SetOrder.self, SetApproval.self,
    ]
}

extension AppliedCubeEdit: Codable {
    private enum CodingKeys: String, CodingKey {
        case name = "command"
        case command = "payload"
        case newID = "id"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decode(String.self, forKey: .name)
        guard let type = Self.commands.first(where: { $0.name == name }) else {
            throw DecodingError.dataCorruptedError(
                forKey: .name, in: container, debugDescription: "\(name) is no edit of the cube")
        }
        command = try container.decode(type, forKey: .command)
        newID = try container.decodeIfPresent(ObjectID.self, forKey: .newID)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type(of: command).name, forKey: .name)
        try container.encode(command, forKey: .command)
        try container.encodeIfPresent(newID, forKey: .newID)
    }
}
