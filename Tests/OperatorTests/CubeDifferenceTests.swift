import Foundation
import Schemas
import Testing

@testable import Operator

/// What `msi cube import` finds to change.
@Suite("The difference between the cube and a file")
struct CubeDifferenceTests {
    private static let storms = ObjectID()
    private static let cube = [
        Channel(
            id: ObjectID(), name: "Campus", desc: "All", access: ["ann"],
            areas: [
                Area(
                    id: ObjectID(), name: "Weather", desc: "",
                    subjects: [
                        subject(storms, "Storms", .forced, .alert, approval: true),
                        subject(ObjectID(), "Heat", .optional, .alert),
                    ])
            ]),
        Channel(id: ObjectID(), name: "Library", desc: ""),
    ]

    private static let withoutLibrary = "- channel Library: 0 areas, 0 subjects"

    private static func subject(
        _ id: ObjectID, _ name: String, _ level: SubscriptionLevel, _ distribution: Distribution, approval: Bool? = nil
    ) -> Subject {
        Subject(
            id: id, name: name, desc: "", topicKey: TopicKey(channel: ObjectID(), area: ObjectID(), subject: id),
            opt: SubjectOptions(level: level, distribution: distribution), approval: approval)
    }

    private func lines(_ file: CubeFile, removesOthers: Bool = false) throws -> [String] {
        try CubeDifference(from: Self.cube, to: file, removesOthers: removesOthers).edits.map(\.description)
    }

    private func csv(_ rows: String..., removesOthers: Bool = false) throws -> [String] {
        try lines(CubeFile(csv: rows.joined(separator: "\n")), removesOthers: removesOthers)
    }

    @Test("An export of the cube changes nothing, in both forms", arguments: [false, true])
    func export(removesOthers: Bool) throws {
        #expect(try lines(CubeFile(json: JSONEncoder().encode(Self.cube)), removesOthers: removesOthers) == [])
        for showsAccess in [true, false] {
            let file = CubeFile(Self.cube, showsAccess: showsAccess)
            #expect(try lines(CubeFile(json: JSONEncoder().encode(file.channels)), removesOthers: removesOthers) == [])
            #expect(try lines(CubeFile(csv: file.csv()), removesOthers: removesOthers) == [])
        }
    }

    @Test("An export says also that a subject needs no approval, and has no access lists that its author does not see")
    func exported() throws {
        var cube = Self.cube
        let export = CubeFile(cube, showsAccess: false)
        cube[0].areas[0].subjects[1].approval = true
        for file in [try CubeFile(json: JSONEncoder().encode(export.channels)), try CubeFile(csv: export.csv())] {
            let edits = try CubeDifference(from: cube, to: file, removesOthers: true).edits
            #expect(edits.map(\.description) == ["~ subject Campus/Weather/Heat: approval true → false"])
        }
        #expect(try !export.csv().contains("access"))
    }

    @Test("A cube with a name twice at one place is not exported as CSV")
    func exportedTwice() throws {
        let twice = CubeFile(Self.cube + [Channel(id: ObjectID(), name: "Library", desc: "")], showsAccess: true)
        let error = #expect(throws: CubeFileError.self) { try twice.csv() }
        #expect(error?.description.contains("Library is twice in the cube, which CSV cannot express") == true)
    }

    @Test("A subject of the file that is in another area of the cube is refused: a new one would have no subscribed phones")
    func elsewhere() throws {
        let file = try CubeFile(
            json: Data(
                #"[{"name":"Library","areas":[{"name":"News","subjects":[{"id":"\#(Self.storms)","name":"Storms"}]}]}]"#.utf8))
        let error = #expect(throws: CubeFileError.self) { try lines(file) }
        #expect(error?.description.contains("Library/News/Storms: the subject \(Self.storms) is Campus/Weather/Storms") == true)
    }

    @Test("A file from before a subject was moved is refused: a new one at its old place would have no subscribed phones")
    func moved() throws {
        var cube = Self.cube
        let export = try CubeFile(cube, showsAccess: true).csv()
        let (campus, weather) = (cube[0], cube[0].areas[0])
        var storms = cube[0].areas[0].subjects.removeFirst()
        storms.topicKey = TopicKey(channel: campus.id, area: weather.id, subject: storms.id)
        cube[1].areas = [Area(id: ObjectID(), name: "News", desc: "", subjects: [storms])]
        for removesOthers in [false, true] {
            let error = #expect(throws: CubeFileError.self) {
                try CubeDifference(from: cube, to: CubeFile(csv: export), removesOthers: removesOthers)
            }
            #expect(error?.description.contains("Campus/Weather/Storms was moved: it is Library/News/Storms now") == true)
        }
        // One that was added at the old place since then is another subject.
        cube[0].areas[0].subjects.append(Self.subject(ObjectID(), "Storms", .forced, .alert, approval: true))
        #expect(try CubeDifference(from: cube, to: CubeFile(csv: export), removesOthers: false).edits.isEmpty)
        let now = try CubeFile(cube, showsAccess: true).csv()
        #expect(try CubeDifference(from: cube, to: CubeFile(csv: now), removesOthers: true).edits.isEmpty)
    }

    @Test("New parts are added, a channel before its areas and an area before its subjects; parts that are not mentioned stay")
    func added() throws {
        let difference = try CubeDifference(
            from: Self.cube,
            to: CubeFile(csv: "channel,area,subject,distribution,level,subject_access\nCampus,Sport,Runs,Alert,Forced,ben\n"),
            removesOthers: false)
        #expect(
            difference.edits.map(\.description) == [
                "+ area Campus/Sport", "+ subject Campus/Sport/Runs: level Forced, distribution Alert",
                "~ subject Campus/Sport/Runs: access (none) → ben",
            ])
        let campus = CubeReference.existing(Self.cube[0].id)
        #expect(
            difference.edits.map(\.path) == [[campus, .added(0)]] + Array(repeating: [campus, .added(0), .added(1)], count: 2))
    }

    @Test("Fields that differ are changed; what is missing or not said changes nothing")
    func changed() throws {
        #expect(try csv("channel,area,subject", "Campus,Weather,Storms") == [])
        #expect(try csv("channel,area,subject,level,distribution,approval", "Campus,Weather,Storms,,,") == [])
        #expect(
            try csv(
                "channel,channel_desc,channel_access,area,subject,level,distribution,approval",
                "Campus,Everyone,,Weather,Storms,Optional,Information,false") == [
                    "~ channel Campus: desc All → Everyone", "~ channel Campus: access ann → (none)",
                    "~ subject Campus/Weather/Storms: level Forced → (none), distribution Alert → Information",
                    "~ subject Campus/Weather/Storms: approval true → false",
                ])
        #expect(
            try csv("Channel, Area,SUBJECT,Level,distribution,,", "Campus,Weather, Storms,optional,INFORMATION,,") == [
                "~ subject Campus/Weather/Storms: level Forced → (none), distribution Alert → Information"
            ])
    }

    @Test("A part with the id of the cube is renamed")
    func renamed() throws {
        let json = """
            [{"name":"Campus","areas":[{"name":"Weather","subjects":[{"id":"\(Self.storms)","name":"Storms and floods"}]}]}]
            """
        #expect(
            try lines(CubeFile(json: Data(json.utf8))) == [
                "~ subject Campus/Weather/Storms: name Storms → Storms and floods"
            ])
    }

    @Test("Only --remove-others removes what the file does not mention; if it has no subjects at all, those of the cube stay")
    func removed() throws {
        #expect(
            try csv("channel,area,subject", "Campus,Weather,Storms", removesOthers: true) == [
                "- subject Campus/Weather/Heat", Self.withoutLibrary,
            ])
        #expect(try lines(CubeFile(json: Data(#"[{"name":"Campus"}]"#.utf8)), removesOthers: true) == [Self.withoutLibrary])
        #expect(try csv("channel,channel_desc", "Campus,All", ",", removesOthers: true) == [Self.withoutLibrary])
        #expect(try csv("channel,area,area_desc", "Campus,Weather,", removesOthers: true) == [Self.withoutLibrary])
    }

    @Test(
        "A file that is wrong is refused, with the line or the field",
        arguments: [
            ("", "line 1: there is no header"), ("area\nx\n", "line 1: the column channel is missing"),
            ("channel,colour\nx,y\n", #"line 1: "colour" is not a column; they are channel, area"#),
            ("channel,area\n,x\n", "line 2: the channel has no name"),
            ("channel,area,subject\nx,,y\n", "line 2: the subject has no area"),
            ("channel,area,subject,distribution\nx,y,z,Alert\nx,y,z,Alert\n", "line 3: the subject x/y/z is there twice"),
            ("channel,channel_desc,area\nx,1,y\nx,2,z\n", "line 3: x has another description than in a row before"),
            ("channel,area,subject,distribution\nx,y,z,loud\n", "line 2: distribution: expected one of Alert, Information"),
            (
                "channel,area,subject,level\nx,y,z,strong\n",
                "line 2: level: expected one of Forced, Recommended, Optional, or an empty cell"
            ),
            ("channel,area,subject,approval\nx,y,z,perhaps\n", "line 2: approval: expected true, false or an empty cell"),
            ("channel,channel_access\nx,a b!\n", "line 2: channel_access: expected names of accounts, separated by spaces"),
            ("channel\n\(String(repeating: "x", count: 201))\n", "line 2: name"),
            ("channel,channel_access\nx,ann ann\n", "line 2: access: expected each name once"),
            (
                "channel,area,subject,distribution\nx,y,,Alert\n",
                "line 2: the subject has no name, but the row has the distribution"
            ),
            ("channel,area,area_desc\nx,,y\n", "line 2: the area has no name, but the row has the area_desc"),
            ("channel,area,subject\nx,y,z\n", "x/y/z is new, and needs a distribution: Alert or Information"),
        ])
    func wrongCSV(text: String, problem: String) throws {
        let error = #expect(throws: CubeFileError.self) { try lines(CubeFile(csv: text)) }
        #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
    }

    @Test(
        "JSON that is wrong is refused, with the field's path",
        arguments: [
            ("[", "JSON"), ("{}", "array"), (#"[{"name":"x","color":1}]"#, "color"), (#"[{"desc":"x"}]"#, "name"),
            (#"[{"name":"x","areas":[{"name":"y","subjects":[{"name":"z","opt":{"level":"forced"}}]}]}]"#, "opt.level"),
            (#"[{"name":"x"},{"name":"x"}]"#, "x is there twice"),
        ])
    func wrongJSON(text: String, problem: String) throws {
        let error = #expect(throws: CubeFileError.self) { try lines(CubeFile(json: Data(text.utf8))) }
        #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
    }

    @Test("A name that fits two parts of the cube needs an id")
    func ambiguous() throws {
        let twice = Self.cube + [Channel(id: ObjectID(), name: "Library", desc: "")]
        let error = #expect(throws: CubeFileError.self) {
            try CubeDifference(from: twice, to: CubeFile(csv: "channel\nLibrary\n"), removesOthers: false)
        }
        #expect(error?.description.contains("Library is 2 times in the cube; give the id") == true)
    }
}
