import FoundationEssentials
import Base
import Schemas
import Testing

/// Checks that a command is read and written as this JSON, and so is its reply. An unknown field of the command is refused, and
/// one of the reply is ignored.
func checkWireForm<C: Command>(
    _ type: C.Type, _ name: String, _ payload: String, reply: String = "{}", sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(C.name == name, sourceLocation: sourceLocation)
    let command = try C(payload: Data(payload.utf8))
    #expect(String(decoding: try command.payload(), as: UTF8.self) == payload, sourceLocation: sourceLocation)
    let answer = try C.reply(payload: Data(reply.utf8))
    #expect(String(decoding: try C.payload(of: answer), as: UTF8.self) == reply, sourceLocation: sourceLocation)
    let unknown = payload == "{}" ? #"{"colour":"red"}"# : #"{"colour":"red","# + payload.dropFirst()
    let problem = violation { try C(payload: Data(unknown.utf8)) }
    #expect(problem?.field == "colour", sourceLocation: sourceLocation)
    // A service of a later version may say more.
    let more = reply == "{}" ? #"{"colour":"red"}"# : #"{"colour":"red","# + reply.dropFirst()
    _ = try C.reply(payload: Data(more.utf8))
}
