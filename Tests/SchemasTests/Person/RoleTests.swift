import Base
import FoundationEssentials
import Schemas
import Testing

@Suite("Roles")
struct RoleTests {
    private struct Holder: Codable, Hashable { let role: Role }

    @Test("Known roles and those of another version are read and written as they are", arguments: ["student", "janitor"])
    func roundTrip(name: String) throws {
        let json = Data(#"{"role":"\#(name)"}"#.utf8)
        let read = try JSONCoder.decodeStrictly(Holder.self, from: json)
        #expect(read.role.rawValue == name && Role(name) == read.role)
        #expect(try JSONCoder.encode(read) == json)
    }

    @Test("A role that this version does not know has no rights, is no staff, and cannot be given")
    func unknown() {
        let role = Role.unknown("janitor")
        #expect(role.rights.isEmpty && !role.isStaff && !Role.allCases.contains(role))
        let problem = violation(of: AddAccount.self, in: #"{"account":"ann","password":"long enough","role":"janitor"}"#)
        #expect(problem?.field == "role" && problem?.problem.contains("\"student\"") == true)
        #expect(violation(of: UpdateAccount.self, in: #"{"account":"ann","role":"janitor"}"#)?.field == "role")
    }

    @Test("Students have no rights in the hub, and only the two roles of earlier versions are staff")
    func rights() {
        #expect(Role.student.rights.isEmpty)
        #expect(Role.allCases.filter(\.isStaff) == Role.staff)
        #expect(Role.staff == [.superUser, .communicator])
        for role in Role.allCases { #expect(Role(rawValue: role.rawValue) == role) }
    }

    @Test("Other texts are no roles", arguments: ["", "Student", "super user", "ö", String(repeating: "a", count: 41)])
    func invalid(text: String) {
        #expect(Role(rawValue: text) == nil)
        #expect(violation(of: Holder.self, in: #"{"role":"\#(text)"}"#)?.field == "role")
    }
}
